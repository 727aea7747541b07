"""A program outside the gateway that kills it at every point and judges what is left."""
