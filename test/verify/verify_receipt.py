"""Checks receipts by docs/receipts.md ("Write your own verifier") alone, with the standard library and openssl.

Reads a JSON list of {"receipt": text, "keys": [...], "witnesses": [...], "origin": text} from standard input. A key is a
text, or {"key", "until"}. Writes a JSON list: null for a receipt that holds, or what is wrong.
"""

import base64
import datetime
import hashlib
import json
import math
import os
import re
import subprocess
import sys
import tempfile

MEMBERS = {"object", "origin", "email", "events", "checkpoint", "cosignatures", "keys"}
ENTRY = {"v", "event", "stream", "version", "type", "at", "data"}
REPEATED = ["message_id", "from", "to", "cc", "bcc", "reply_to", "subject"]


class Wrong(Exception):
    pass


def need(condition, what):
    if not condition:
        raise Wrong(what)


def pairs_once(pairs):
    need(len(pairs) == len({name for name, _ in pairs}), "a name appears twice")
    return dict(pairs)


def no_constant(name):
    raise Wrong(f"{name} is not JSON")


def number(value):
    """Numbers as ECMAScript writes them: RFC 8785, section 3.2.2.3."""
    value = float(value)
    need(math.isfinite(value), "a number is not one of JSON")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    # The shortest digits that give the number back.
    for precision in range(17):
        mantissa, exponent = f"{abs(value):.{precision}e}".split("e")
        if float(f"{mantissa}e{exponent}") == abs(value):
            break
    digits, point = mantissa.replace(".", ""), int(exponent) + 1
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    tail = f"e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return sign + digits[0] + ("." + digits[1:] if count > 1 else "") + tail


def text_of(value):
    need(not re.search("[\ud800-\udfff]", value), "half of a surrogate pair")
    return json.dumps(value, ensure_ascii=False)


def canonical(value, depth=0):
    need(depth <= 64, "nested too deep")
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, str):
        return text_of(value)
    if isinstance(value, list):
        return "[" + ",".join(canonical(each, depth + 1) for each in value) + "]"
    names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
    return "{" + ",".join(f"{text_of(name)}:{canonical(value[name], depth + 1)}" for name in names) + "}"


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def url64(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def unurl64(text, length=32):
    need(isinstance(text, str) and re.fullmatch(r"[A-Za-z0-9_-]*", text) is not None, "not base64url")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)) if len(text) % 4 != 1 else b""
    need(url64(data) == text and len(data) == length, "not 32 bytes in base64url")
    return data


def un64(text):
    need(re.fullmatch(r"[A-Za-z0-9+/]*={0,2}", text) is not None and len(text) % 4 == 0, "not base64")
    data = base64.b64decode(text)
    need(base64.b64encode(data).decode() == text, "not base64")
    return data


def is_natural(value):
    return not isinstance(value, bool) and isinstance(value, (int, float)) and value == int(value) and 0 <= value < 2**53


def name_is_good(name):
    return name != "" and not re.search(r"[\s+]", name)


class Key:
    def __init__(self, text):
        need(isinstance(text, str), "a key is not a text")
        match = re.fullmatch(r"([^+]*)\+([0-9a-f]{8})\+(.*)", text, re.S)
        need(match, "a key does not have the form of one")
        self.name, self.id, encoded = match.groups()
        data = un64(encoded)
        need(name_is_good(self.name) and len(data) == 33 and data[0] in (1, 4), "not a key of Ed25519")
        need(sha256(self.name.encode() + b"\n", data)[:4].hex() == self.id, "a key does not have its id")
        self.is_witness, self.bytes = data[0] == 4, data[1:]

    def verifies(self, signature, message):
        with tempfile.TemporaryDirectory() as folder:
            files = {
                # The fixed beginning of a public key of Ed25519 in DER (RFC 8410).
                "key": bytes.fromhex("302a300506032b6570032100") + self.bytes,
                "signature": signature,
                "message": message,
            }
            for name, data in files.items():
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(data)
            command = "openssl pkeyutl -verify -pubin -keyform DER -inkey key -rawin -in message -sigfile signature"
            return subprocess.run(command.split(), cwd=folder, capture_output=True).returncode == 0


def signature_line(line):
    need(isinstance(line, str), "a signature is not a text")
    match = re.fullmatch("\u2014 ([^ ]+) ([^ ]+)", line)
    need(match and name_is_good(match[1]), "a signature does not have the form of one")
    data = un64(match[2])
    need(len(data) > 4, "a signature is empty")
    return match[1], data[:4].hex(), data[4:]


def read_note(note):
    need(isinstance(note, str) and not re.search("[\x00-\x09\x0b-\x1f]", note), "not a note")
    at = note.rfind("\n\n")
    need(at >= 0 and note.endswith("\n"), "not a note")
    lines = note[at + 2 : -1].split("\n")
    need(len(note) > at + 2, "a note without a signature")
    return note[: at + 1], [signature_line(line) for line in lines]


def root_of(leaf, index, size, proof):
    """RFC 9162, section 2.1.3.2."""
    need(index < size, "the index is not in the tree")
    fn, sn, result = index, size - 1, leaf
    for sibling in proof:
        need(sn != 0, "the proof is too long")
        if fn & 1 or fn == sn:
            result = sha256(b"\x01", sibling, result)
            while not fn & 1 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            result = sha256(b"\x01", result, sibling)
        fn, sn = fn >> 1, sn >> 1
    need(sn == 0, "the proof is too short")
    return result


def check_event(event, nth):
    need(isinstance(event, dict), "an event is not an object")
    is_erased = "fields" not in event and "hidden" not in event
    need(set(event) == {"entry", "index", "proof"} | (set() if is_erased else {"fields", "hidden"}), "members of an event")
    entry = event["entry"]
    need(isinstance(entry, dict) and set(entry) == ENTRY and entry["v"] == 1, "members of an entry")
    need(entry["v"] is not True and entry["version"] == nth + 1 and entry["version"] is not True, "versions")
    need(is_natural(event["index"]), "an index")
    need(all(isinstance(entry[name], str) for name in ("event", "stream", "type", "at", "data")), "texts of an entry")
    if is_erased:
        return
    need(isinstance(event["fields"], dict) and isinstance(event["hidden"], dict), "fields")
    need(not set(event["fields"]) & set(event["hidden"]), "a field is shown and hidden")
    commitments = dict(event["hidden"])
    for commitment in commitments.values():
        unurl64(commitment)
    for name, field in event["fields"].items():
        need(isinstance(field, dict) and set(field) == {"salt", "value"}, "members of a field")
        commitments[name] = url64(sha256(unurl64(field["salt"]), canonical(field["value"]).encode()))
    need(url64(sha256(canonical(commitments).encode())) == entry["data"], "the data is not what the log holds")


def record_of(events):
    first = events[0].get("fields", {})
    record = {name: first[name]["value"] for name in REPEATED if name in first}
    for name in ("email_id", "inbound_id"):
        if name in first:
            record["id"] = first[name]["value"]
    recipients = {}
    for event in events:
        address = event.get("fields", {}).get("recipient", {}).get("value")
        if isinstance(address, str):
            entry = event["entry"]
            recipients[address] = {"address": address, "last_event": entry["type"], "at": entry["at"]}
    times = {"created_at": events[0]["entry"]["at"], "updated_at": events[-1]["entry"]["at"]}
    return {**record, **times, "version": len(events), "recipients": list(recipients.values())}


def time_of(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def check(receipt, keys, witnesses, origin):
    need(len(receipt.encode("utf-8", "surrogatepass")) <= 16 * 1024 * 1024, "too large")
    receipt = json.loads(receipt, object_pairs_hook=pairs_once, parse_constant=no_constant)
    need(isinstance(receipt, dict) and set(receipt) == MEMBERS and receipt["object"] == "receipt", "members")
    need(isinstance(receipt["origin"], str) and origin in (None, receipt["origin"]), "the origin")
    canonical(receipt)
    events = receipt["events"]
    need(isinstance(events, list) and len(events) > 0, "no events")
    for nth, event in enumerate(events):
        check_event(event, nth)
        need(event["entry"]["stream"] == events[0]["entry"]["stream"], "streams")
        need(nth == 0 or event["index"] > events[nth - 1]["index"], "indexes")
    need(canonical(receipt["email"]) == canonical(record_of(events)), "the record does not follow from the events")

    text, signatures = read_note(receipt["checkpoint"])
    lines = text.split("\n")
    need(len(lines) >= 4 and "" not in lines[:-1] and lines[0] == receipt["origin"], "the checkpoint")
    need(re.fullmatch(r"0|[1-9][0-9]*", lines[1]) and int(lines[1]) < 2**53, "the size")
    size, root = int(lines[1]), un64(lines[2])
    for event in events:
        need(isinstance(event["proof"], list), "a proof")
        leaf = sha256(b"\x00", canonical(event["entry"]).encode())
        path = [unurl64(node) for node in event["proof"]]
        need(root_of(leaf, int(event["index"]), size, path) == root, "an event is not in the log")

    need(isinstance(receipt["cosignatures"], list) and isinstance(receipt["keys"], list), "lists")
    need(max(len(receipt["cosignatures"]), len(receipt["keys"])) <= 256, "too many cosignatures or keys")
    signatures += [signature_line(line) for line in receipt["cosignatures"]]
    pinned = [(Key(key), None) if isinstance(key, str) else (Key(key["key"]), key["until"]) for key in keys]
    trusted = [Key(key) for key in witnesses]
    known = {(key.name, key.id): key for key in [Key(key) for key in receipt["keys"]]}
    known.update({(key.name, key.id): key for key in [key for key, _ in pinned] + trusted})
    signed = set()
    for name, key_id, signature in signatures:
        key = known.get((name, key_id))
        need(key, "a signature by a key that nobody has")
        message = text
        if key.is_witness:
            need(len(signature) == 72, "a cosignature has another length")
            message = f"cosignature/v1\ntime {int.from_bytes(signature[:8], 'big')}\n{text}"
            signature = signature[8:]
        need(key.verifies(signature, message.encode()), "a signature is not valid")
        signed.add((name, key_id))
    of_log = {label for label in signed if label[0] == receipt["origin"] and not known[label].is_witness}
    need(of_log, "no key of the log has signed")
    if pinned:
        own = [until for key, until in pinned if (key.name, key.id) in of_log]
        need(own, "no pinned key has signed")
        latest = max(time_of(event["entry"]["at"]) for event in events)
        need(any(until is None or latest <= time_of(until) for until in own), "its key was not valid then")
    for key in trusted:
        need(key.is_witness and (key.name, key.id) in signed, "a witness has not signed")


def verdict(case):
    try:
        check(case["receipt"], case.get("keys", []), case.get("witnesses", []), case.get("origin"))
        return None
    except Wrong as wrong:
        return str(wrong)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        return f"not of the form of a receipt: {error}"


if __name__ == "__main__":
    json.dump([verdict(case) for case in json.load(sys.stdin)], sys.stdout)
