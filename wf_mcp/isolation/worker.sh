#!/bin/sh
# A worker for containers that have nothing but a POSIX shell and awk: busybox will do.
#
#   worker.sh FOLDER
#
# Each executable file in FOLDER is a tool: `greet` answers a call of greet with text, `greet.json` with JSON. A tool
# reads the arguments as JSON from stdin; those that are text, numbers or booleans stand in its environment too, as
# ARG_name, where the name can be that of a variable. It ends with 0, or the call failed. Its stderr is the log.
# One envelope is read from stdin, one is printed to stdout.
set -u
LC_ALL=C
export LC_ALL
tools=${1:?worker.sh FOLDER}

# Prints token, name and arguments of the envelope, and ARG_… of the arguments, as assignments that a shell can read.
read_envelope='
function quoted(text) { gsub(/\047/, "\047\\\047\047", text); return "\047" text "\047" }
function utf8(code) {
  if (code < 128) return code == 0 ? "" : sprintf("%c", code)
  if (code < 2048) return sprintf("%c%c", 192 + int(code / 64), 128 + code % 64)
  if (code < 65536) return sprintf("%c%c%c", 224 + int(code / 4096), 128 + int(code / 64) % 64, 128 + code % 64)
  return sprintf("%c%c%c%c", 240 + int(code / 262144), 128 + int(code / 4096) % 64, 128 + int(code / 64) % 64, 128 + code % 64)
}
function hex(digits,   i, value) {
  for (i = 1; i <= 4; i++) value = value * 16 + index("0123456789abcdef", tolower(substr(digits, i, 1))) - 1
  return value
}
function space() { while (at <= size && index(" \t\r\n", substr(text, at, 1))) at++ }
function fail(reason) { print "echo " quoted("worker.sh: " reason) " >&2; exit 1"; failed = 1; exit 1 }
function string(   out, part, c, code) {
  at++
  while (1) {
    if (at > size) fail("the envelope ends within a text")
    c = substr(text, at, 1)
    if (c == "\"") { at++; return out }
    if (c != "\\") {
      match(substr(text, at, 4096), /^[^"\\]*/)
      out = out substr(text, at, RLENGTH)
      at += RLENGTH
      continue
    }
    c = substr(text, at + 1, 1)
    at += 2
    if (c == "u") {
      code = hex(substr(text, at, 4))
      at += 4
      if (code >= 55296 && code < 56320 && substr(text, at, 2) == "\\u") {
        code = 65536 + (code - 55296) * 1024 + hex(substr(text, at + 2, 4)) - 56320
        at += 6
      }
      out = out utf8(code)
    } else if (c == "n") out = out "\n"
    else if (c == "t") out = out "\t"
    else if (c == "r") out = out "\r"
    else if (c == "b") out = out "\b"
    else if (c == "f") out = out "\f"
    else out = out c
  }
}
function value(path,   c, key, start, first, word) {
  space()
  start = at
  c = substr(text, at, 1)
  if (c == "\"") {
    word = string()
    scalar(path, word)
  } else if (c == "{" || c == "[") {
    at++
    space()
    if (substr(text, at, 1) == (c == "{" ? "}" : "]")) at++
    else while (1) {
      key = "[]"
      if (c == "{") {
        space()
        if (substr(text, at, 1) != "\"") fail("the envelope is no JSON")
        key = string()
        space()
        if (substr(text, at++, 1) != ":") fail("the envelope is no JSON")
      }
      value(path == "" ? key : path SUBSEP key)
      space()
      first = substr(text, at++, 1)
      if (first == (c == "{" ? "}" : "]")) break
      if (first != ",") fail("the envelope is no JSON")
    }
  } else {
    if (!match(substr(text, at, 64), /^[-+.0-9A-Za-z]+/)) fail("the envelope is no JSON")
    word = substr(text, at, RLENGTH)
    at += RLENGTH
    if (word != "null") scalar(path, word)
  }
  if (path == "toolCall" SUBSEP "arguments") given["arguments"] = substr(text, start, at - start)
}
function scalar(path, word,   parts, count) {
  if (path == "token") given["token"] = word
  else if (path == "toolCall" SUBSEP "name") given["name"] = word
  else {
    count = split(path, parts, SUBSEP)
    if (count == 3 && parts[1] == "toolCall" && parts[2] == "arguments" && parts[3] ~ /^[A-Za-z_][A-Za-z0-9_]*$/)
      print "export ARG_" parts[3] "=" quoted(word)
  }
}
{ text = text $0 "\n" }
END {
  if (failed) exit 1
  size = length(text)
  at = 1
  value("")
  if (!("token" in given) || !("name" in given)) fail("the envelope lacks token or toolCall.name")
  print "token=" quoted(given["token"]) "\nname=" quoted(given["name"]) "\narguments=" quoted(given["arguments"])
}'

# Prints what it reads as a JSON string, without the line breaks at its end.
write_string='
BEGIN {
  for (i = 1; i < 32; i++) escape[sprintf("%c", i)] = sprintf("\\u%04x", i)
  escape["\""] = "\\\""; escape["\\"] = "\\\\"
  printf "\""
}
{
  if (NR > 1) printf "\\n"
  while (match($0, /[\001-\037"\\]/)) {
    printf "%s%s", substr($0, 1, RSTART - 1), escape[substr($0, RSTART, 1)]
    $0 = substr($0, RSTART + 1)
  }
  printf "%s", $0
}
END { printf "\"" }'

as_string() { printf '%s\n' "$1" | awk "$write_string"; }

fail() {
  printf '{"token": %s, "status": "error", "error": {"code": "%s", "message": %s}}\n' \
    "$(as_string "$token")" "$1" "$(as_string "$2")"
  exit 0
}

# Nothing of the tool may take the place of these; what awk prints sets them.
token='' name='' arguments=''
eval "$(awk "$read_envelope")"

case $name in
  '' | .* | */* | *[!A-Za-z0-9_.-]*) fail capability_not_found "There is no tool '$name'." ;;
esac
if [ -f "$tools/$name" ] && [ -x "$tools/$name" ]; then
  output=$(printf '%s' "$arguments" | "$tools/$name") || fail capability_error "$name ended with exit status $?: $output"
  printf '{"token": %s, "status": "success", "result": {"type": "text", "content": %s}}\n' \
    "$(as_string "$token")" "$(as_string "$output")"
elif [ -f "$tools/$name.json" ] && [ -x "$tools/$name.json" ]; then
  output=$(printf '%s' "$arguments" | "$tools/$name.json") || fail capability_error "$name ended with exit status $?: $output"
  printf '{"token": %s, "status": "success", "result": {"type": "json", "content": %s}}\n' "$(as_string "$token")" "$output"
else
  fail capability_not_found "There is no tool '$name'."
fi
