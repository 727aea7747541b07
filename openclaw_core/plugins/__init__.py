"""What is installed, how it is loaded, and how it is called."""
