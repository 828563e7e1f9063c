// Assembling as llvm-mc does it, from files in memory.

#include "shared.h"

#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace {

// A file of the sealed tree, opened once.
class OpenedFile : public vfs::File {
  public:
    explicit OpenedFile(std::unique_ptr<vfs::File> opened) : file(std::move(opened)) {}

    ErrorOr<vfs::Status> status() override {
        return file->status();
    }

    ErrorOr<std::unique_ptr<MemoryBuffer>> getBuffer(
        const Twine& name, int64_t size, bool, bool is_volatile) override {
        ErrorOr<std::unique_ptr<MemoryBuffer>> shared =
            file->getBuffer(name, size, /*RequiresNullTerminator=*/false, is_volatile);
        if (!shared)
            return shared;
        return MemoryBuffer::getMemBufferCopy((*shared)->getBuffer(), name);
    }

    std::error_code close() override {
        return file->close();
    }

  private:
    std::unique_ptr<vfs::File> file;
};

// The sealed tree. Every opening of a file gives bytes of its own: the assembler tells from where
// a byte lies in memory which inclusion it belongs to.
class SealedTree : public vfs::ProxyFileSystem {
  public:
    SealedTree(const netra_file* files, size_t file_count)
        : vfs::ProxyFileSystem(make(files, file_count)) {}

    ErrorOr<std::unique_ptr<vfs::File>> openFileForRead(const Twine& name) override {
        ErrorOr<std::unique_ptr<vfs::File>> opened = ProxyFileSystem::openFileForRead(name);
        if (!opened)
            return opened;
        return std::make_unique<OpenedFile>(std::move(*opened));
    }

  private:
    static IntrusiveRefCntPtr<vfs::FileSystem> make(const netra_file* files, size_t file_count) {
        IntrusiveRefCntPtr<vfs::InMemoryFileSystem> system(new vfs::InMemoryFileSystem);
        // No source can name this folder, so that absolute names and ".." find nothing.
        system->setCurrentWorkingDirectory("/\x01sealed");
        for (size_t index = 0; index != file_count; ++index) {
            const netra_file& file = files[index];
            system->addFile(file.name, 0,
                MemoryBuffer::getMemBuffer(StringRef(file.data, file.size), file.name, false));
        }
        return system;
    }
};

// One run of the assembler; every part lives as long as the streamer that refers to it.
bool run(const netra::Processor& machine, SourceMgr& sources, raw_pwrite_stream& object) {
    const Target& target = *machine.target;
    MCContext context(machine.triple, machine.syntax.get(), machine.registers.get(),
        machine.subtarget.get(), &sources, &machine.options);
    std::unique_ptr<MCObjectFileInfo> sections(
        target.createMCObjectFileInfo(context, /*PIC=*/false));
    context.setObjectFileInfo(sections.get());

    std::unique_ptr<MCAsmBackend> backend(
        target.createMCAsmBackend(*machine.subtarget, *machine.registers, machine.options));
    std::unique_ptr<MCObjectWriter> writer = backend->createObjectWriter(object);
    std::unique_ptr<MCCodeEmitter> emitter(
        target.createMCCodeEmitter(*machine.instructions, context));
    std::unique_ptr<MCStreamer> streamer(target.createMCObjectStreamer(machine.triple, context,
        std::move(backend), std::move(writer), std::move(emitter), *machine.subtarget));

    std::unique_ptr<MCAsmParser> parser(
        createMCAsmParser(sources, context, *streamer, *machine.syntax));
    std::unique_ptr<MCTargetAsmParser> target_parser(target.createMCAsmParser(
        *machine.subtarget, *parser, *machine.instructions, machine.options));
    parser->setTargetParser(*target_parser);
    return !parser->Run(/*NoInitialTextSection=*/false);
}

} // namespace

int netra_assemble(const char* triple, const char* processor_name, const char* main_name,
    const char* include_root, const netra_file* files, size_t file_count, int output) {
    const netra::Processor* machine = netra::processor(triple, processor_name);
    if (!machine)
        return NETRA_DECLINED;

    IntrusiveRefCntPtr<vfs::FileSystem> system(new SealedTree(files, file_count));
    ErrorOr<std::unique_ptr<MemoryBuffer>> main_file = system->getBufferForFile(main_name);
    if (!main_file)
        return NETRA_DECLINED;

    SourceMgr sources;
    sources.setVirtualFileSystem(system);
    if (*include_root)
        sources.setIncludeDirs({include_root});
    sources.AddNewSourceBuffer(std::move(*main_file), SMLoc());

    raw_fd_ostream object(output, /*shouldClose=*/false);
    const bool is_done = run(*machine, sources, object);
    // What a source printed would come out in front of what is linked next.
    outs().flush();
    return is_done ? NETRA_DONE : NETRA_REFUSED;
}
