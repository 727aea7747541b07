"""The public test kit: contracts, fakes and a whole gateway in memory."""
