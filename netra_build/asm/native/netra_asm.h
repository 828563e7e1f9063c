// The assembler, linker and disassembler of one LLVM, in process, behind a small C ABI.
//
// Meant for a worker process that does one thing at a time. Nothing here is safe to call from two
// threads, and what LLVM calls a fatal error ends the process, as it ends LLVM's own programs.
//
// What the tools report goes to file descriptor 2, exactly as their programs print it. What they
// make goes to the descriptor `output`, an empty regular file, so that the limit of the process on
// the size of files holds.

#ifndef NETRA_ASM_H
#define NETRA_ASM_H

#include <stddef.h>

// Only what is declared here leaves the library.
#pragma GCC visibility push(default)

#ifdef __cplusplus
extern "C" {
#endif

// A file of the sealed tree: a relative name and its bytes.
typedef struct {
    const char* name;
    const char* data;
    size_t size;
} netra_file;

// How a call ended. A declined input is one that the program has to be asked about.
enum netra_status {
    NETRA_DONE = 0,
    NETRA_REFUSED = 1,
    NETRA_DECLINED = 2,
};

// Assembles `main_name`, one of `files`, as llvm-mc does. No other file exists for the source.
// `include_root` is the only include folder; an empty one means that there is none.
int netra_assemble(const char* triple, const char* processor, const char* main_name,
    const char* include_root, const netra_file* files, size_t file_count, int output);

// Runs ld.lld in the working folder with `arguments`, which name no output: the linked file goes
// to standard output.
int netra_link(const char* const* arguments, size_t argument_count);

// Lists the code of a linked code object as `llvm-objdump --disassemble` does when the file is
// called `name`. Declines everything that is out of the ordinary.
int netra_disassemble(const char* triple, const char* processor, const char* name, const char* data,
    size_t size, int output);

#ifdef __cplusplus
}
#endif

#pragma GCC visibility pop

#endif
