"""Surgery: operations on an encoder's weights, each a pure function of the encoder and a seed."""
