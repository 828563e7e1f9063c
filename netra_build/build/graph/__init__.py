"""What is to be made: actions joined by the files they read and write, and product folders.

``actions``  roots and places (files named without a path), stages, actions and graphs
``product``  one product folder: its seal is withdrawn first and written last, a journal between

A graph holds no path of this machine; ``run/execution.py`` says where its roots lie. Both import
``core`` alone. Start with ``Stage.apply``.
"""
