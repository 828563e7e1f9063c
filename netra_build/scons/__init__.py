"""The SCons tool: turns a pipeline graph into SCons nodes."""
