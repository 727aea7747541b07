"""Finding skills and telling the model about them."""
