"""Sessions: their records, and the events that they are made of."""
