"""Time series with named columns, and the files they are kept in."""
