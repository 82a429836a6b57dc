# includes.awk - the includes of C and C++ files, as a compiler sees them.
# awk -f includes.awk LIST FILE...: LIST has the paths of all files below src
# and include. Prints "FILE quoted NAME" and "FILE system NAME", and for each
# include in another form "FILE refused TEXT". There is one form for each:
# "folder/file.h", which is below src or include, and <name>, which is not below
# src.

# Joins the lines on which a macro goes on. No other line may go on.
function joined(line,    next_line) {
    if (in_comment || line !~ /^#[ ]*define[ ]/)
        print FILENAME, "refused", "a line that goes on and defines nothing"
    while (sub(/\\ *$/, "", line) && (getline next_line) > 0)
        line = line next_line
    return line
}

# Replaces comments by a blank; `in_comment` lasts from line to line. What
# stands between quotation marks is no comment.
function without_comments(line,    out, at) {
    out = ""
    while (line != "") {
        if (in_comment) {
            at = index(line, "*/")
            if (!at)
                return out
            in_comment = 0
            line = substr(line, at + 2)
            out = out " "
        }
        if (!match(line, /["']|\/\*|\/\//))
            return out line
        out = out substr(line, 1, RSTART - 1)
        line = substr(line, RSTART)
        if (substr(line, 1, 2) == "//")
            return out
        if (substr(line, 1, 2) == "/*") {
            in_comment = 1
            line = substr(line, 3)
        } else if (match(line, /^"([^"\\]|\\.)*"/) ||
                   match(line, /^'([^'\\]|\\.)*'/)) {
            out = out substr(line, 1, RLENGTH)
            line = substr(line, RLENGTH + 1)
        } else {
            print FILENAME, "refused", "half a pair of quotation marks"
            return out
        }
    }
    return out
}

function is_plain(name) {
    return name !~ /[ \t\\]|\/\// && ("/" name "/") !~ /\/\.\.?\//
}

function tell(text,    name) {
    name = substr(text, 2, length(text) - 2)
    if (text ~ /^"[^"]+"$/ && is_plain(name) && name ~ /\/.*\.h$/ &&
        (("src/" name) in exists || ("include/" name) in exists) &&
        !((beside name) in exists))
        print FILENAME, "quoted", name
    else if (text ~ /^<[^<>]+>$/ && is_plain(name) && name !~ /^\// &&
             !(("src/" name) in exists))
        print FILENAME, "system", name
    else
        print FILENAME, "refused", text
}

FNR == NR { exists[$1] = 1; next }
FNR == 1 {
    beside = FILENAME
    sub(/[^\/]*$/, "", beside)
    in_comment = 0
}
{
    line = $0
    if (line ~ /\?\?[=\/]/)
        print FILENAME, "refused", "a trigraph"
    if (line ~ /\\ *$/)
        line = joined(line)
    if (in_comment || line ~ /\/[*\/]/)
        line = without_comments(line)
    if (line ~ /R"[^"]*\(/)
        print FILENAME, "refused", "a raw string, which hides what follows"
    gsub(/^[ \t\v\f\r]+|[ \t\v\f\r]+$/, "", line)
    if (!sub(/^(#|%:)[ \t\v\f]*/, "", line) ||
        line !~ /^(include|import|embed)/)
        next
    if (line !~ /^include[ \t\v\f]*[<"]/) {
        print FILENAME, "refused", line
        next
    }
    sub(/^include[ \t\v\f]*/, "", line)
    tell(line)
}
