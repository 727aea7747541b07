"""The models of the configuration's sections, one file a section."""
