"""Real language data: readers of the field's file formats, and where the files are found."""
