import * as MadeLog from "./MadeLog.ts"

/** What a forger has: a receipt that holds, all of the log, and its keys where a case needs them. */
export interface Forging {
  readonly receipt: MadeLog.Draft
  readonly log: ReadonlyArray<MadeLog.Leaf>
  readonly own: ReadonlyArray<MadeLog.Leaf>
  readonly others: ReadonlyArray<ReadonlyArray<MadeLog.Leaf>>
  readonly proving: MadeLog.Proving
}

interface Case {
  readonly change: (forging: Forging) => MadeLog.Draft | string
  /** Results of the steps with pinned keys, by their first letters. */
  readonly results: string
  /** Whether only somebody who has keys from elsewhere can tell. */
  readonly needsKeys?: true
}

const fail = (): never => {
  throw new Error("the sample log has changed")
}
const nth = <A>(list: ReadonlyArray<A>, at: number): A => list[at] ?? fail()
const withRecord = (receipt: MadeLog.Draft): MadeLog.Draft => ({ ...receipt, email: MadeLog.recordOf(receipt.events) })
const fieldsOf = (receipt: MadeLog.Draft, at: number) => nth(receipt.events, at).fields ?? fail()

const changing = (change: (receipt: MadeLog.Draft) => void, results: string): Case => ({
  change: ({ receipt }) => {
    change(receipt)
    return receipt
  },
  results,
})
const rewriting = (from: string | RegExp, to: string, results: string): Case => ({
  change: ({ receipt }) => {
    const text = JSON.stringify(receipt)
    const changed = text.replace(from, to)
    return changed === text ? fail() : changed
  },
  results,
})

const UNREAD = "fssssssss"

/** Receipts that do not hold, and which step says so. */
export const TAMPERED: Readonly<Record<string, Case>> = {
  "a value": changing((receipt) => {
    fieldsOf(receipt, 1)["response"] = { ...(fieldsOf(receipt, 1)["response"] ?? fail()), value: "550 refused" }
  }, "pfppppppp"),
  "a value and the summary": changing((receipt) => {
    fieldsOf(receipt, 0)["subject"] = { ...(fieldsOf(receipt, 0)["subject"] ?? fail()), value: "Another" }
    receipt.email["subject"] = "Another"
  }, "pfppppppp"),
  "the summary": changing((receipt) => void (receipt.email["subject"] = "Another"), "pppfppppp"),
  "something more in the summary": changing((receipt) => void (receipt.email["status"] = "read"), "pppfppppp"),
  "a recipient of the summary": changing((receipt) => {
    const recipients = receipt.email["recipients"] as Array<{ last_event: string }>
    nth(recipients, 1).last_event = "email.bounced"
  }, "pppfppppp"),
  "a list of what is hidden": rewriting('"hidden":{}', '"hidden":[]', UNREAD),
  "a cosignature, again and again": changing((receipt) => {
    receipt.cosignatures = Array.from({ length: 257 }, () => nth(receipt.cosignatures, 0))
  }, "ppppppfss"),
  "a salt": changing((receipt) => {
    const { salt, value } = fieldsOf(receipt, 0)["subject"] ?? fail()
    fieldsOf(receipt, 0)["subject"] = { salt: salt.startsWith("A") ? `B${salt.slice(1)}` : `A${salt.slice(1)}`, value }
  }, "pfppppppp"),
  "a salt that takes over the first digit of a value": changing((receipt) => {
    const { salt } = fieldsOf(receipt, 0)["size_bytes"] ?? fail()
    const longer = Buffer.concat([Buffer.from(salt, "base64url"), Buffer.from("5")]).toString("base64url")
    fieldsOf(receipt, 0)["size_bytes"] = { salt: longer, value: 123 }
  }, "pfppppppp"),
  "a field is removed": changing((receipt) => void delete fieldsOf(receipt, 1)["response"], "pfppppppp"),
  "a field is added": changing((receipt) => {
    fieldsOf(receipt, 1)["read"] = { ...(fieldsOf(receipt, 1)["code"] ?? fail()), value: true }
  }, "pfppppppp"),
  "a field is shown and hidden": changing((receipt) => {
    nth(receipt.events, 1).hidden = { response: "A".repeat(43) }
  }, "pfppppppp"),
  "only the hidden fields are kept": changing((receipt) => void delete nth(receipt.events, 1).fields, UNREAD),
  "the type of an event": changing((receipt) => {
    nth(receipt.events, 1).entry["type"] = "email.bounced"
    receipt.email = MadeLog.recordOf(receipt.events)
  }, "pppppfppp"),
  "the time of an event": changing((receipt) => {
    nth(receipt.events, 1).entry["at"] = "2026-11-29T18:00:01.251Z"
    receipt.email = MadeLog.recordOf(receipt.events)
  }, "pppppfppp"),
  "the id of an event": changing((receipt) => void (nth(receipt.events, 1).entry["event"] = "evt_forged"), "pppppfppp"),
  "an event is left out": {
    change: ({ receipt }) => withRecord({ ...receipt, events: receipt.events.toSpliced(1, 1) }),
    results: "ppfpppppp",
  },
  "an event is left out, and the others are numbered anew": {
    change: ({ receipt }) => {
      const events = receipt.events.toSpliced(1, 1)
      for (const [at, { entry }] of events.entries()) entry["version"] = at + 1
      return withRecord({ ...receipt, events })
    },
    results: "pppppfppp",
  },
  "the first event is left out": {
    change: ({ receipt }) => withRecord({ ...receipt, events: receipt.events.slice(1) }),
    results: "ppfpppppp",
  },
  "events change places": {
    change: ({ receipt }) => withRecord({ ...receipt, events: receipt.events.toReversed() }),
    results: "ppfpppppp",
  },
  "an event stands twice": {
    change: ({ receipt }) => withRecord({ ...receipt, events: receipt.events.toSpliced(1, 0, nth(receipt.events, 0)) }),
    results: "ppfpppppp",
  },
  "an event of another message": {
    change: ({ others, proving, receipt }) => {
      const foreign = MadeLog.receiptOf(nth(others, 0), proving)
      return withRecord({ ...receipt, events: receipt.events.with(1, nth(foreign.events, 1)) })
    },
    results: "ppfpppppp",
  },
  "no events": { change: ({ receipt }) => withRecord({ ...receipt, events: [] }), results: "ppfpppppp" },
  "a proof for another leaf": changing((receipt) => {
    const [one, other] = [nth(receipt.events, 1), nth(receipt.events, 2)]
    ;[one.proof, other.proof] = [other.proof, one.proof]
  }, "pppppfppp"),
  "another index": changing((receipt) => void (nth(receipt.events, 3).index += 1), "pppppfppp"),
  "an index that is no whole number": changing((receipt) => void (nth(receipt.events, 3).index += 0.5), "pppppfppp"),
  "a proof with a hash more": changing((receipt) => {
    nth(receipt.events, 1).proof.push(nth(nth(receipt.events, 1).proof, 0))
  }, "pppppfppp"),
  "a proof with a hash less": changing((receipt) => void nth(receipt.events, 1).proof.pop(), "pppppfppp"),
  "a checkpoint of a fork": {
    change: ({ log, own, proving, receipt }) => {
      const fork = log.map((leaf) =>
        own.includes(leaf) ? leaf : { ...leaf, entry: { ...leaf.entry, at: "2020-01-01" } },
      )
      return { ...receipt, checkpoint: MadeLog.receiptOf(own, { ...proving, log: fork }).checkpoint, cosignatures: [] }
    },
    results: "pppppfppf",
  },
  "a fork by the key of the log, which no witness has signed": {
    change: ({ log, own, proving }) => {
      const fork = log.filter((leaf) => own.includes(leaf))
      return MadeLog.receiptOf(own, { ...proving, log: fork, witnesses: [] })
    },
    results: "ppppppppf",
    needsKeys: true,
  },
  "a log of somebody else under this name": {
    change: ({ own, proving }) => {
      const keys = [MadeLog.makeKey(proving.origin)]
      const forged = MadeLog.receiptOf(own, { ...proving, keys, witnesses: [] })
      return { ...forged, origin: `${proving.origin}`, keys: proving.keys.map(({ vkey }) => vkey) }
    },
    results: "ppppppfss",
  },
  "the size of the checkpoint": changing((receipt) => {
    receipt.checkpoint = receipt.checkpoint.replace(/\n\d+\n/u, "\n17\n")
  }, "pppppffss"),
  "the root of the checkpoint": changing((receipt) => {
    receipt.checkpoint = receipt.checkpoint.replace(/\n[\w+/]{43}=/u, `\n${"A".repeat(43)}=`)
  }, "pppppffss"),
  "a line more in the checkpoint": changing((receipt) => {
    receipt.checkpoint = receipt.checkpoint.replace("\n\n", "\nmore\n\n")
  }, "ppppppfss"),
  "a checkpoint without a signature": changing((receipt) => {
    receipt.checkpoint = receipt.checkpoint.slice(0, receipt.checkpoint.indexOf("\n\n") + 2)
  }, "ppppfssss"),
  "the signature of the log is one of a witness": changing((receipt) => {
    const [text = ""] = receipt.checkpoint.split("\n\n")
    receipt.checkpoint = `${text}\n\n${nth(receipt.cosignatures, 0)}\n`
  }, "pppppppfp"),
  "the origin": changing((receipt) => void (receipt.origin = "mail.example.org/log"), UNREAD),
  "a signature by a key that nobody has": {
    change: ({ receipt }) => {
      const [text = ""] = receipt.checkpoint.split("\n\n")
      return { ...receipt, cosignatures: [MadeLog.makeKey("w3", 4).cosign(`${text}\n`, 1)] }
    },
    results: "ppppppfss",
  },
  "a key of another id": changing((receipt) => {
    receipt.keys[0] = nth(receipt.keys, 0).replace(/\+[0-9a-f]{8}\+/u, "+00000000+")
  }, "ppppppfss"),
  "a cosignature of another checkpoint": changing((receipt) => {
    const bytes = Buffer.from(nth(receipt.cosignatures, 0).split(" ")[2] ?? "", "base64")
    bytes.writeUInt8(bytes.readUInt8(40) ^ 1, 40)
    receipt.cosignatures[0] = nth(receipt.cosignatures, 0).replace(/ \S+$/u, ` ${bytes.toString("base64")}`)
  }, "ppppppfss"),
  "a member more": rewriting('{"object"', '{"more":1,"object"', UNREAD),
  "a member more in an event": rewriting('"index":', '"more":1,"index":', UNREAD),
  "a member more in an entry": rewriting('"v":1', '"v":1,"more":1', UNREAD),
  "a member more in a field": rewriting('"value":', '"more":1,"value":', UNREAD),
  "another version of entries": rewriting('"v":1', '"v":2', UNREAD),
  "a member of another type": rewriting(/"cosignatures":\["([^"]+)"/u, '"cosignatures":[["$1"]', UNREAD),
  "no list of keys": rewriting(/"keys":\[.*?\]/u, '"keys":{}', UNREAD),
  "a member less": rewriting(/,"cosignatures":\[.*?\]/u, "", UNREAD),
  "two members of one name": rewriting('{"object"', '{"origin":"mail.example.com/log","object"', UNREAD),
  "another object": rewriting('"receipt"', '"email"', UNREAD),
  "base64url with other unused bits": rewriting(/("proof":\["[\w-]{42})(\w)/u, "$19", "pppppfppp"),
  "base64url with padding": rewriting(/("salt":"[\w-]{43})/u, "$1=", "pfppppppp"),
  "half of a surrogate pair": rewriting("\ud83d\ude80", String.raw`\ud83d`, UNREAD),
  "no JSON": { change: ({ receipt }) => JSON.stringify(receipt).slice(0, -1), results: UNREAD },
  "JSON of something else": { change: () => "[]", results: UNREAD },
  nothing: { change: () => "", results: UNREAD },
}
