// The listing of a linked code object, laid out as llvm-objdump lays it out for AMDGPU.
//
// llvm-objdump is a program, not a library, so its layout is written anew here, for what our code
// objects hold: instructions, labels, branch targets, zero padding and words that are no
// instruction. Everything else is declined, and the program is asked.

#include "shared.h"

#include "llvm/BinaryFormat/Magic.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCDisassembler/MCRelocationInfo.h"
#include "llvm/MC/MCDisassembler/MCSymbolizer.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormattedStream.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <map>
#include <vector>

using namespace llvm;
using namespace llvm::object;

namespace {

constexpr size_t instruction_columns = 60;
constexpr size_t data_columns = 55;
constexpr size_t least_zero_run = 8;

using Symbols = std::vector<SymbolInfoTy>;

// A section that may hold the target of a branch, with its symbols sorted by address.
struct Place {
    uint64_t address;
    uint64_t size;
    Symbols symbols;
};

// The symbols of an object by section, absolute ones apart.
class SymbolTable {
  public:
    // Returns false when the object cannot be read or holds what we do not list.
    bool read(const ELFObjectFileBase& object);

    Symbols& in(uint64_t section_index) {
        return places[order.at(section_index)].symbols;
    }

    // The symbol that a branch target is named after: the nearest one before it in the section
    // that holds it, then in sections at the same address, then among the absolute ones.
    const SymbolInfoTy* nearest(uint64_t target) const;

  private:
    bool add(const ELFSymbolRef& symbol, const ELFObjectFileBase& object);

    std::vector<Place> places; // by address, an empty one before others at its address
    std::map<uint64_t, size_t> order;
    Symbols absolute;
};

bool SymbolTable::read(const ELFObjectFileBase& object) {
    std::vector<SectionRef> sections(object.section_begin(), object.section_end());
    llvm::stable_sort(sections, [](const SectionRef& left, const SectionRef& right) {
        return std::make_pair(left.getAddress(), left.getSize()) <
               std::make_pair(right.getAddress(), right.getSize());
    });
    for (const SectionRef& section : sections) {
        order[section.getIndex()] = places.size();
        places.push_back({section.getAddress(), section.getSize(), {}});
    }
    for (const ELFSymbolRef& symbol : object.symbols())
        if (!add(symbol, object))
            return false;
    const bool has_symbols =
        llvm::any_of(places, [](const Place& place) { return !place.symbols.empty(); });
    if (!has_symbols)
        for (const ELFSymbolRef& symbol : object.getDynamicSymbolIterators())
            if (!add(symbol, object))
                return false;
    for (Place& place : places)
        llvm::stable_sort(place.symbols);
    llvm::stable_sort(absolute);
    return true;
}

bool SymbolTable::add(const ELFSymbolRef& symbol, const ELFObjectFileBase& object) {
    Expected<StringRef> name = symbol.getName();
    if (!name) {
        consumeError(name.takeError());
        return false;
    }
    Expected<uint32_t> flags = symbol.getFlags();
    Expected<uint64_t> address = symbol.getAddress();
    Expected<section_iterator> section = symbol.getSection();
    if (!flags || !address || !section) {
        consumeError(flags.takeError());
        consumeError(address.takeError());
        consumeError(section.takeError());
        return false;
    }
    if (name->empty() || (*flags & SymbolRef::SF_FormatSpecific))
        return true;
    const SymbolInfoTy known(*address, *name, symbol.getELFType());
    if (*section == object.section_end()) {
        absolute.push_back(known);
        return true;
    }
    const bool is_data = known.Type == ELF::STT_OBJECT || known.Type == ELF::STT_COMMON;
    // Old kernels begin with a header, and data in between is dumped: neither occurs in ours.
    if ((*section)->isText() && (is_data || known.Type == ELF::STT_AMDGPU_HSA_KERNEL))
        return false;
    places[order.at((*section)->getIndex())].symbols.push_back(known);
    return true;
}

const SymbolInfoTy* last_before(const Symbols& symbols, uint64_t target) {
    const auto after = llvm::partition_point(
        symbols, [=](const SymbolInfoTy& symbol) { return symbol.Addr <= target; });
    return after == symbols.begin() ? nullptr : &*std::prev(after);
}

const SymbolInfoTy* SymbolTable::nearest(uint64_t target) const {
    auto place = llvm::partition_point(
        places, [=](const Place& candidate) { return candidate.address <= target; });
    // The program keeps looking below address 0 only; all others share the first one's address.
    uint64_t address = 0;
    while (place != places.begin()) {
        --place;
        if (address == 0)
            address = place->address;
        if (place->address != address)
            break;
        if (const SymbolInfoTy* found = last_before(place->symbols, target))
            return found;
    }
    return last_before(absolute, target);
}

// Writes the listing of one object.
class Listing {
  public:
    Listing(const netra::Processor& processor, const ELFObjectFileBase& object, SymbolTable& table,
        raw_ostream& stream);

    bool is_usable() const {
        return decoder && printer && analysis;
    }

    // Returns false when the section cannot be listed.
    bool write_section(const SectionRef& section);

  private:
    void name_targets(Symbols& symbols);
    void write_range(uint64_t address, ArrayRef<uint8_t> bytes, uint64_t start, uint64_t end);
    uint64_t write_instruction(uint64_t address, ArrayRef<uint8_t> rest);
    void write_encoding(uint64_t address, ArrayRef<uint8_t> bytes);
    void write_data(ArrayRef<uint8_t> bytes);
    void write_target(uint64_t target);
    void end_line(StringRef comments);

    const netra::Processor& machine;
    SymbolTable& table;
    formatted_raw_ostream out;
    MCContext context;
    std::unique_ptr<MCDisassembler> decoder;
    std::unique_ptr<MCInstrAnalysis> analysis;
    std::unique_ptr<MCInstPrinter> printer;
};

Listing::Listing(const netra::Processor& processor, const ELFObjectFileBase& object,
    SymbolTable& symbols, raw_ostream& stream)
    : machine(processor), table(symbols), out(stream),
      context(
          machine.triple, machine.syntax.get(), machine.registers.get(), machine.subtarget.get()) {
    decoder.reset(machine.target->createMCDisassembler(*machine.subtarget, context));
    analysis.reset(machine.target->createMCInstrAnalysis(machine.instructions.get()));
    printer.reset(
        machine.target->createMCInstPrinter(machine.triple, machine.syntax->getAssemblerDialect(),
            *machine.syntax, *machine.instructions, *machine.registers));
    if (!is_usable())
        return;
    decoder->setABIVersion(object.getEIdentABIVersion());
    printer->setPrintImmHex(true);
    printer->setMCInstrAnalysis(analysis.get());
}

// Lets the decoder print a branch to an untyped symbol as that symbol. `symbols` must outlive the
// decoding.
void Listing::name_targets(Symbols& symbols) {
    std::unique_ptr<MCRelocationInfo> relocations(
        machine.target->createMCRelocationInfo(machine.triple, context));
    decoder->setSymbolizer(std::unique_ptr<MCSymbolizer>(machine.target->createMCSymbolizer(
        machine.triple, nullptr, nullptr, &symbols, &context, std::move(relocations))));
}

bool Listing::write_section(const SectionRef& section) {
    Expected<StringRef> name = section.getName();
    Expected<StringRef> contents = section.getContents();
    if (!name || !contents) {
        consumeError(name.takeError());
        consumeError(contents.takeError());
        return false;
    }
    const uint64_t address = section.getAddress();
    const ArrayRef<uint8_t> bytes = arrayRefFromStringRef(*contents);
    // A section without a symbol at its start gets one, which later branches may be named after.
    Symbols& symbols = table.in(section.getIndex());
    if (symbols.empty() || symbols.front().Addr != address)
        symbols.insert(symbols.begin(), SymbolInfoTy(address, *name, ELF::STT_FUNC));
    // Only a damaged object has symbols outside their section.
    if (symbols.front().Addr < address || symbols.back().Addr - address > bytes.size())
        return false;

    name_targets(symbols);
    out << "\nDisassembly of section " << *name << ":\n";
    for (size_t index = 0; index != symbols.size();) {
        const uint64_t start = symbols[index].Addr - address;
        while (index != symbols.size() && symbols[index].Addr - address == start)
            ++index;
        const uint64_t end = index == symbols.size() ? bytes.size() : symbols[index].Addr - address;
        if (start == end)
            continue;
        out << '\n' << format("%016" PRIx64 " <", address + start);
        out << symbols[index - 1].Name << ">:\n";
        write_range(address, bytes, start, end);
    }
    decoder->setSymbolizer(nullptr);
    return true;
}

// The leading zero bytes that are shown as one ellipsis, in whole words.
size_t zero_run(ArrayRef<uint8_t> bytes) {
    size_t count = 0;
    while (count != bytes.size() && bytes[count] == 0)
        ++count;
    return count < least_zero_run ? 0 : count & ~size_t(3);
}

void Listing::write_range(uint64_t address, ArrayRef<uint8_t> bytes, uint64_t start, uint64_t end) {
    while (start < end) {
        if (const size_t zeros = zero_run(bytes.slice(start, end - start))) {
            out << "\t\t...\n";
            start += zeros;
        } else {
            start += write_instruction(address + start, bytes.drop_front(start));
        }
    }
}

// Writes one line and returns how many bytes it stands for.
uint64_t Listing::write_instruction(uint64_t address, ArrayRef<uint8_t> rest) {
    std::string comments;
    raw_string_ostream comment_stream(comments);
    MCInst instruction;
    uint64_t size = 0;
    // A suspect encoding counts as an instruction, as long as it is one.
    const bool is_instruction = decoder->getInstruction(instruction, size, rest, address,
                                    comment_stream) != MCDisassembler::Fail;
    if (size == 0)
        size = std::min<uint64_t>(rest.size(), decoder->suggestBytesToSkip(rest, address));
    const ArrayRef<uint8_t> bytes = rest.take_front(size);
    if (is_instruction) {
        std::string text;
        raw_string_ostream text_stream(text);
        printer->setCommentStream(comment_stream);
        printer->printInst(&instruction, address, "", *machine.subtarget, text_stream);
        printer->setCommentStream(nulls());
        out << left_justify(text, instruction_columns);
    } else {
        write_data(bytes);
    }
    write_encoding(address, bytes);
    uint64_t target = 0;
    if (is_instruction && analysis->evaluateBranch(instruction, address, size, target))
        write_target(target);
    end_line(comments);
    return size;
}

// Words that are no instruction, as the directive that would make them.
void Listing::write_data(ArrayRef<uint8_t> bytes) {
    if (bytes.size() >= 4) {
        out << format("\t.long 0x%08" PRIx32 " ", support::endian::read32le(bytes.data()));
        out.indent(42);
        return;
    }
    out << format("\t.byte 0x%02" PRIx8, bytes.front());
    for (uint8_t byte : bytes.drop_front())
        out << format(", 0x%02" PRIx8, byte);
    out.indent(data_columns - 6 * bytes.size());
}

void Listing::write_encoding(uint64_t address, ArrayRef<uint8_t> bytes) {
    out << format("// %012" PRIX64 ":", address);
    if (bytes.size() < 4) {
        for (uint8_t byte : bytes)
            out << format(" %02" PRIX8, byte);
        return;
    }
    for (size_t offset = 0; offset + 4 <= bytes.size(); offset += 4)
        out << format(" %08" PRIX32, support::endian::read32le(bytes.data() + offset));
}

void Listing::write_target(uint64_t target) {
    const SymbolInfoTy* symbol = table.nearest(target);
    if (!symbol)
        return;
    out << " <" << symbol->Name;
    if (target != symbol->Addr)
        out << "+0x" << Twine::utohexstr(target - symbol->Addr);
    out << ">";
}

// Ends a line with what decoder and printer had to say, each remark on a line of its own.
void Listing::end_line(StringRef comments) {
    while (!comments.empty()) {
        const auto [comment, others] = comments.split('\n');
        out.PadToColumn(machine.syntax->getCommentColumn());
        out << machine.syntax->getCommentString() << ' ' << comment;
        comments = others;
        if (!comments.empty())
            out << '\n';
    }
    out << '\n';
}

bool is_ordinary(const ELFObjectFileBase& object) {
    const Triple triple = object.makeTriple();
    return object.getEMachine() == ELF::EM_AMDGPU && object.getBytesInAddress() == 8 &&
           object.isLittleEndian() && triple.getArch() == Triple::amdgcn &&
           triple.getOS() == Triple::AMDHSA;
}

bool write_listing(const netra::Processor& machine, const ELFObjectFileBase& object, StringRef name,
    raw_ostream& stream) {
    SymbolTable table;
    if (!is_ordinary(object) || !table.read(object))
        return false;
    stream << '\n' << name << ":\tfile format " << object.getFileFormatName().lower() << '\n';
    Listing listing(machine, object, table, stream);
    if (!listing.is_usable())
        return false;
    for (const SectionRef& section : object.sections()) {
        if (!section.isText() || section.getSize() == 0)
            continue;
        if (section.isVirtual() || !listing.write_section(section))
            return false;
    }
    return true;
}

} // namespace

int netra_disassemble(const char* triple, const char* processor_name, const char* name,
    const char* data, size_t size, int output) {
    const netra::Processor* machine = netra::processor(triple, processor_name);
    // The program looks at the magic first, which a damaged object may have lost.
    if (identify_magic(StringRef(data, size)) != file_magic::elf_shared_object)
        return NETRA_DECLINED;
    Expected<std::unique_ptr<ObjectFile>> file = ObjectFile::createELFObjectFile(
        MemoryBufferRef(StringRef(data, size), name), /*InitContent=*/true);
    if (!file) {
        consumeError(file.takeError());
        return NETRA_DECLINED;
    }
    raw_fd_ostream stream(output, /*shouldClose=*/false);
    const auto& object = llvm::cast<ELFObjectFileBase>(**file);
    return machine && write_listing(*machine, object, name, stream) ? NETRA_DONE : NETRA_DECLINED;
}
