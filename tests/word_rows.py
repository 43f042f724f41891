"""Word embeddings by piece."""


def rows_of(encoder):
    """The word embeddings by piece."""
    table = encoder.model.get_input_embeddings().weight.detach()
    return {piece: table[number] for piece, number in encoder.tokenizer.get_vocab().items()}
