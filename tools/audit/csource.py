# SPDX-License-Identifier: GPL-2.0
"""Just enough C for the audit of errors.

Reads kernel sources into functions, follows the error values in their
variables from where they come from to where they are returned or compared,
and calls back for each. No preprocessor: all branches of an #if are read.
Knows no types; macros but those named below are functions.
"""
import errno
import os
import re
from collections import namedtuple

# What coverage counts
FILES = """
kernel/events/core.c kernel/events/ring_buffer.c kernel/events/hw_breakpoint.c
kernel/events/callchain.c kernel/events/uprobes.c
kernel/trace/trace_event_perf.c kernel/trace/trace_kprobe.c
kernel/trace/trace_uprobe.c kernel/trace/bpf_trace.c
kernel/trace/trace_events_filter.c arch/x86/kernel/hw_breakpoint.c
arch/x86/kernel/perf_regs.c arch/x86/events/msr.c include/linux/perf_event.h
""".split()

ERRNOS = {name for name in dir(errno) if name[0] == "E"} | {
    "ENOTSUPP", "ENOIOCTLCMD", "EPROBE_DEFER", "EBADHANDLE", "ETOOSMALL",
    "ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND", "EIOCBQUEUED",
    "ERESTART_RESTARTBLOCK", "ERECALLCONFLICT", "ENOTSYNC", "EOPENSTALE"}

# An annotation, and which of its arguments is the error
ANNOTATION = re.compile(r"^(perf_err(_attr|_bit|_arg|_lsm|_kernel)?|PERF_ERR_PTR"
                        r"|exterr(_member|_bitfield|_arg|_foreign|_ptr)?)$")
CAUSE = {"exterr": 1, "exterr_foreign": 1, "exterr_ptr": 1, "exterr_arg": 2,
         "exterr_member": 3, "exterr_bitfield": 3}
# What they return is a plain errno
UNFOLD = {"exterr_errno", "exterr_report", "exterr_report_deferred"}
# What they return is the value they are given
SAME = {"PTR_ERR", "ERR_PTR", "ERR_CAST", "PTR_ERR_OR_ZERO", "likely",
        "unlikely", "READ_ONCE", "no_free_ptr", "return_ptr"}
NO_CALL = {"if", "while", "for", "switch", "return", "sizeof", "typeof",
           "IS_ERR", "IS_ERR_OR_NULL", "WARN_ON", "WARN_ON_ONCE", "offsetof",
           "IS_ERR_VALUE", "do", "else", "case", "defined"}
COMPARE = {"==", "!=", "<", ">", "<=", ">="}
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}

Token = namedtuple("Token", "text line")
Function = namedtuple("Function", "file name head body line macro")

LEXER = re.compile(r"""
    (?P<skip>\s+|/\*.*?\*/|//[^\n]*|\\\n)
  | (?P<pp>\#(?:\\\n|/\*.*?\*/|[^\n])*)
  | (?P<token>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|\.?\d[\w.]*
    |->|\+\+|--|<<=|>>=|[-+*/%&|^=!<>]=|&&|\|\||<<|>>|\.\.\.|.)
    """, re.S | re.X)


def lex(text, line=1):
    """Tokens and the directives between them, which are one token each."""
    tokens = []
    for m in LEXER.finditer(text):
        if m.lastgroup != "skip":
            tokens.append(Token(m.group(), line))
        line += m.group().count("\n")
    return tokens


def is_name(text):
    return text[0].isalpha() or text[0] == "_"


def is_errno(tokens, i):
    """Are tokens i and i + 1 a minus and an errno?"""
    return (tokens[i].text == "-" and i + 1 < len(tokens)
            and tokens[i + 1].text in ERRNOS
            and (i == 0 or tokens[i - 1].text in NO_CALL
                 or not (is_name(tokens[i - 1].text) or tokens[i - 1].text in ")]"
                         or tokens[i - 1].text[0].isdigit())))


def match(tokens, i):
    """Index of the bracket that closes the one at i."""
    depth = 0
    for j in range(i, len(tokens)):
        depth += (tokens[j].text in OPEN) - (tokens[j].text in CLOSE)
        if not depth:
            return j
    raise ValueError("line %d: unbalanced" % tokens[i].line)


def split(tokens, comma=","):
    """Tokens between the commas of the outermost level."""
    parts, depth = [[]], 0
    for t in tokens:
        depth += (t.text in OPEN) - (t.text in CLOSE)
        if t.text == comma and not depth:
            parts.append([])
        else:
            parts[-1].append(t)
    return parts


def text_of(tokens):
    """One line, spaced alike however the source is."""
    line = " ".join(t.text for t in tokens)
    line = re.sub(r" ?(->|\.|\[|\]) ?", r"\1", line)
    line = re.sub(r"([\w\]]) \(", r"\1(", line)
    line = re.sub(r"\b(if|while|for|switch|return)\(", r"\1 (", line)
    line = re.sub(r"([(!~]|\( ?&) ", r"\1", line)
    line = re.sub(r" ([);:,])", r"\1", line)
    return re.sub(r"- (?=E[A-Z0-9]+\b)", "-", line)


def head_name(head):
    """What the tokens before a { at file level define."""
    for i, t in enumerate(head):
        if t.text == "=":
            names = [x.text for x in head[:i] if is_name(x.text)]
            return names[-1] if names else "?"
    for i in range(1, len(head)):
        if head[i].text == "(" and is_name(head[i - 1].text) \
           and not head[i - 1].text.startswith("__a"):
            name = head[i - 1].text
            if name.upper() == name and i + 1 < len(head) and is_name(head[i + 1].text):
                return head[i + 1].text     # SYSCALL_DEFINE5(name, ...
            return name
    names = [x.text for x in head if is_name(x.text)]
    return names[-1] if names else "?"


def functions(name, text):
    """Functions, initialisers and macros of a file."""
    found, head, body, stack, depth = [], [], None, [], 0
    for t in lex(text):
        if t.text[0] == "#":
            word = re.match(r"#\s*(\w+)\s*(.*)", t.text, re.S)
            if not word:
                continue
            if word[1] == "define":
                macro = re.match(r"(\w+)(\([^)]*\))?", word[2])
                inner = lex(word[2][macro.end():], t.line)
                inner.append(Token(";", t.line))
                found.append(Function(name, macro[1], [], inner, t.line, True))
            elif word[1].startswith("if"):
                stack.append(depth)
            elif word[1].startswith("el"):
                if stack[-1] != depth and body is not None:
                    raise ValueError("%s:%d: braces differ in #if" % (name, t.line))
            elif word[1] == "endif":
                stack.pop()
            continue
        if body is None:
            if t.text == "{":
                body, depth = [], 1
            elif t.text == ";" or t.text == "}":
                head = []
            else:
                head.append(t)
            continue
        depth += (t.text == "{") - (t.text == "}")
        if depth:
            body.append(t)
            continue
        found.append(Function(name, head_name(head), head, body,
                              head[0].line if head else t.line, False))
        head, body = [], None
    if body is not None:
        raise ValueError("%s: ends inside %s" % (name, head_name(head)))
    return found


def read(files, tree):
    """Functions of all the files."""
    found = []
    for name in files:
        with open(os.path.join(tree, name), errors="replace") as file:
            found += functions(name, file.read())
    return found


def rows(path):
    """Lines of a table: where each is, and its cells."""
    with open(path) as file:
        for number, line in enumerate(file, 1):
            if line.strip() and line[0] != "#":
                cells = line.rstrip("\n").split("\t")
                yield "%s:%d" % (os.path.basename(path), number), cells


def parameters(function):
    for i, t in enumerate(function.head):
        if t.text == "(":
            inner = function.head[i + 1:match(function.head, i)]
            return [p[-1].text for p in split(inner) if p]
    return []


class Flow:
    """Follows values through one function.

    A value is a set of origins (kind, index of the token, name): "errno" is
    born there, "call" returned by the function called, "code" annotated,
    "param" the parameter of that name. Subclasses override the at_*().
    """

    defined = frozenset()       # names of functions that pointers may be of

    def __init__(self, function):
        self.f = function
        self.t = function.body
        self.labels = {}
        try:
            self.run()
        except (ValueError, IndexError):
            if not function.macro:      # macros need not be whole statements
                raise

    def at_annotation(self, i, value):
        """The annotation at i is given value."""

    def at_argument(self, name, i, n, value):
        """The function name is given value as its argument n."""

    def at_compare(self, i, value, number):
        """value is compared with the errno number at i."""

    def at_return(self, i, value):
        """The function returns value."""

    def run(self):
        start = {p: {("param", 0, p)} for p in parameters(self.f)}
        for _ in range(3):      # for the gotos that jump back
            before = {k: dict(v) for k, v in self.labels.items()}
            self.breaks, self.case_of = [], []
            i, state = 0, {k: set(v) for k, v in start.items()}
            while i < len(self.t):
                i, state = self.statement(i, state)
            if before == self.labels:
                break

    @staticmethod
    def join(*states):
        states = [s for s in states if s is not None]
        if not states:
            return None
        out = {}
        for s in states:
            for k, v in s.items():
                out[k] = out.get(k, set()) | v
        return out

    def end_of(self, i):
        """Index of the ; that ends the statement at i."""
        while i < len(self.t) and self.t[i].text != ";":
            i = match(self.t, i) + 1 if self.t[i].text in OPEN else i + 1
        return i

    def statement(self, i, state):
        """Run the statement at i; the index after it, and the state there or
        None if it is not left that way."""
        t, word = self.t, self.t[i].text
        nxt = t[i + 1].text if i + 1 < len(t) else ""
        if word == ";":
            return i + 1, state
        if state is None and not (word in ("case", "default") or nxt == ":"):
            state = {}          # after #else, or macros that do not return
        if word == "{":
            end = match(t, i)
            i += 1
            while i < end:
                i, state = self.statement(i, state)
            return end + 1, state
        if word == "if":
            end = match(t, i + 1)
            self.value(i + 2, end, state)
            yes, no = self.refine(i + 2, end, state)
            i, yes = self.statement(end + 1, yes)
            if i < len(t) and t[i].text == "else":
                i, no = self.statement(i + 1, no)
            return i, self.join(yes, no)
        if word == "switch":
            end = match(t, i + 1)
            tested = self.value(i + 2, end, state)
            self.case_of.append((state, tested))
            self.breaks.append([])
            i, after = self.statement(end + 1, None)
            self.case_of.pop()
            return i, self.join(state, after, *self.breaks.pop())
        if word in ("case", "default") and (word == "case" or nxt == ":"):
            end = i
            while t[end].text != ":":
                end += 1
            entry, tested = self.case_of[-1] if self.case_of else ({}, set())
            if is_errno(t, i + 1):
                self.at_compare(i + 1, tested, t[i + 2].text)
            return end + 1, self.join(state, entry)
        if nxt == ":" and is_name(word) and word != "default":
            state = self.labels[word] = self.join(state, self.labels.get(word), {})
            return i + 2, dict(state)
        if word == "do":
            self.breaks.append([])
            for _ in range(2):
                end, after = self.statement(i + 1, state)
                close = match(t, end + 1)       # while (
                self.value(end + 2, close, after or {})
                state = self.join(state, after)
            return close + 2, self.join(after, *self.breaks.pop())
        if is_name(word) and nxt == "(" and word not in ("return", "sizeof"):
            end = match(t, i + 1)
            follows = t[end + 1].text if end + 1 < len(t) else ";"
            if word in ("while", "for") or follows == "{" or \
               (is_name(follows) and re.search("for_each|guard", word)):
                self.breaks.append([])
                for _ in range(2):
                    # the for's parts
                    begin = i + 2
                    while begin < end:
                        stop = begin
                        while stop < end and t[stop].text != ";":
                            stop = match(t, stop) + 1 if t[stop].text in OPEN else stop + 1
                        self.expression(begin, min(stop, end), state)
                        begin = stop + 1
                    after_i, after = self.statement(end + 1, dict(state))
                    state = self.join(state, after)
                return after_i, self.join(state, *self.breaks.pop())
        if word == "goto":
            self.labels[nxt] = self.join(self.labels.get(nxt), state)
            return i + 3, None
        if word in ("break", "continue"):
            if self.breaks:
                self.breaks[-1].append(state)
            return i + 2, None
        end = self.end_of(i)
        if word == "return":
            if end > i + 1:
                self.at_return(i, self.value(i + 1, end, state))
            return end + 1, None
        self.expression(i, end, state)
        return end + 1, state

    def refine(self, begin, end, state):
        """The states in which the condition holds and does not."""
        t = [x.text for x in self.t[begin:end]]
        yes, no = dict(state), dict(state)
        line = " ".join(t)
        m = re.match(r"^(?:(?:un)?likely \( )?(! )?(exterr_is \( |IS_ERR(?:_OR_NULL)? \( )?"
                     r"([\w.]+(?: (?:->|\.) \w+)*)(?: \))?( < 0| != 0)?(?: \))?(?: &&.*)?$", line)
        if m and m[3].replace(" ", "") in state:
            name, conjunction = m[3].replace(" ", ""), "&&" in t
            if m[2] and m[2].startswith("exterr_is"):
                folded = no if m[1] else yes
                if not (m[1] and conjunction):
                    folded[name] = {("code", 0, "")} if state[name] else set()
            else:
                good = yes if m[1] else no
                if good is yes or not conjunction:
                    good[name] = set()      # no error in it
        return yes, no

    def expression(self, begin, end, state):
        """A declaration or an expression: assignments, calls, comparisons."""
        t, i = self.t, begin
        while i < end:          # a declaration may have commas
            stop = i
            while stop < end and t[stop].text != ",":
                stop = match(t, stop) + 1 if t[stop].text in OPEN else stop + 1
            at = next((j for j in range(i, stop) if t[j].text == "="
                       and not self.inside(i, j)), None)
            if at is None:
                self.value(i, stop, state)
            else:
                j = at - 1
                while j > i and (t[j - 1].text in ("->", ".") or t[j].text in ("->", ".")):
                    j -= 1
                name = "".join(x.text for x in t[j:at])
                state[name] = self.value(at + 1, stop, state)
            i = stop + 1

    def inside(self, begin, j):
        """Is j within brackets that open at or after begin?"""
        depth = 0
        for k in range(begin, j):
            depth += (self.t[k].text in OPEN) - (self.t[k].text in CLOSE)
        return depth > 0

    def value(self, begin, end, state):
        """Origins of the expression between begin and end."""
        t, i, out = self.t, begin, set()
        operand = None          # value right before a comparison
        while i < end:
            word = t[i].text
            nxt = t[i + 1].text if i + 1 < end else ""
            got, after = None, i + 1
            if is_errno(t, i):
                got, after = {("errno", i, t[i + 1].text)}, i + 2
            elif word == "?":   # what was before is a condition
                out = set()
            elif word in ("(", "{", "["):
                after = match(t, i) + 1
                inner = self.value(i + 1, after - 1, state)
                got = inner if word == "(" else set()
            elif is_name(word) and nxt == "(":
                after = match(t, i + 1) + 1
                got = self.call(i, word, i + 2, after - 1, state)
                # ->method() replaces the value of the object
            elif is_name(word):
                j = i
                while j + 2 < end and t[j + 1].text in ("->", ".") and is_name(t[j + 2].text) \
                        and not (j + 3 < end and t[j + 3].text == "("):
                    j += 2
                name = "".join(x.text for x in t[i:j + 1])
                got, after = state.get(name, set()), j + 1
                if name in self.defined and name not in state:
                    got = {("call", i, name)}
                if after + 2 < end and t[after].text in ("->", ".") and t[after + 2].text == "(":
                    close = match(t, after + 2)
                    got = self.call(after + 1, t[after + 1].text, after + 3, close, state)
                    after = close + 1
                elif nxt == "=" and i + 2 < end:        # if ((x = f()))
                    got = state[word] = self.value(i + 2, end, state)
                    after = end
            elif word in COMPARE:
                if is_errno(t, i + 1):
                    self.at_compare(i + 1, operand or set(), t[i + 2].text)
                    i += 3
                    out, operand = out - (operand or set()), None
                    continue
                if operand and len(operand) == 1 and next(iter(operand))[0] == "errno" \
                   and t[i - 1].text in ERRNOS:         # -E == x
                    where = next(iter(operand))
                    rest = i + 1
                    while rest < end and t[rest].text not in ("&&", "||", "?"):
                        rest = match(t, rest) + 1 if t[rest].text in OPEN else rest + 1
                    self.at_compare(where[1], self.value(i + 1, rest, state), where[2])
                    out, operand, i = out - {where}, None, rest
                    continue
                out -= operand or set()
            if got is not None:
                operand = got
                out |= got
            i = after
        return out

    def call(self, i, name, begin, end, state):
        """Value of the call of name at i with the arguments between."""
        if name in NO_CALL:
            self.value(begin, end, state)
            return set()
        values, at = [], begin
        while at <= end:
            stop = at
            while stop < end and self.t[stop].text != ",":
                stop = match(self.t, stop) + 1 if self.t[stop].text in OPEN else stop + 1
            values.append(self.value(at, stop, state) if at < stop else set())
            at = stop + 1
        if ANNOTATION.match(name):
            self.at_annotation(i, values[min(CAUSE.get(name, 0), len(values) - 1)])
            return {("code", i, name)}
        if name in SAME:
            return set().union(*values)
        for n, value in enumerate(values):
            self.at_argument(name, i, n, value)
        if name in UNFOLD:
            return set()
        return state.get(name) or {("call", i, name)}
