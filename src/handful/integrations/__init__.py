"""The engine in the libraries that people use; each room needs its library only when it is opened."""
