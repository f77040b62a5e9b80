import { isObject, type JsonValue } from "./JsonValue.ts"
import { keysOfLog } from "./keysOfLog.ts"
import { parseReceipt } from "./parseReceipt.ts"
import { type VerifyOptions, type ReceiptStep, verify } from "./verify.ts"

/** The page that checks a receipt in a browser, without a server. */

const MARKS = { passed: "✓", warning: "!", failed: "✗", skipped: "–" }
const SPOKEN = { passed: "Passed", warning: "Passed with a warning", failed: "Failed", skipped: "Not checked" }

const byId = (id: string): HTMLElement => {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no ${id}`)
  return found
}

const element = (tag: string, text = "", className = "", ...children: ReadonlyArray<Node>): HTMLElement => {
  const made = document.createElement(tag)
  made.textContent = text
  made.className = className
  made.append(...children)
  return made
}

const linesOf = (id: string): ReadonlyArray<string> => {
  const field = byId(id)
  const text = field instanceof HTMLTextAreaElement ? field.value.trim() : ""
  return text === "" ? [] : text.split(/\s*\n\s*/u)
}

/** Reads what is given as keys of the log: lines, or the file in which an instance publishes them. */
const keys = (): NonNullable<VerifyOptions["keys"]> => {
  const lines = linesOf("keys")
  return lines[0]?.startsWith("{") === true ? keysOfLog(lines.join("\n")) : lines
}

const stepItem = ({ result, title, words }: ReceiptStep, nth: number): HTMLElement => {
  const mark = element("span", MARKS[result], "mark")
  mark.setAttribute("role", "img")
  mark.setAttribute("aria-label", SPOKEN[result])
  const item = element(
    "li",
    "",
    result,
    mark,
    element("div", "", "", element("strong", title), element("span", words, "quiet")),
  )
  item.style.setProperty("--nth", String(nth))
  return item
}

/** Writes mailboxes as mail does, and lists with commas. */
const shown = (value: JsonValue): string => {
  if (typeof value === "string") return value
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(shown).join(", ")
  if (!isObject(value)) return value === null ? "none" : String(value)
  const { address, at, last_event, name, ...rest } = value
  if (typeof address !== "string" || Object.keys(rest).length > 0) return JSON.stringify(value)
  const mailbox = name === undefined ? address : `${shown(name)} <${address}>`
  return last_event === undefined ? mailbox : `${mailbox}: ${shown(last_event)} at ${shown(at ?? null)}`
}

const pairs = (members: ReadonlyArray<readonly [string, string]>): ReadonlyArray<HTMLElement> =>
  members.flatMap(([name, value]) => [element("dt", name), element("dd", value)])

/** Shows what a receipt says. Called only for one that holds, so that nobody reads what was altered. */
const showContents = (text: string): void => {
  const { email, events } = parseReceipt(text)
  byId("email").replaceChildren(...pairs(Object.entries(email).map(([name, value]) => [name, shown(value)])))
  byId("events").replaceChildren(
    ...events.map(({ entry, fields, hidden }) => {
      const members = Object.entries(fields ?? {}).map(([name, { value }]) => [name, shown(value)] as const)
      const unseen = Object.keys(hidden ?? {}).map((name) => [name, "hidden by whoever gave you the receipt"] as const)
      const erased = fields === undefined ? [["data", "erased"] as const] : []
      const list = element("dl", "", "", ...pairs([["time", entry.at], ...members, ...unseen, ...erased]))
      return element("li", "", "", element("strong", entry.type), list)
    }),
  )
}

let file: File | undefined
/** Number of the latest check: a slower one of before must not overwrite its result. */
let latest = 0

const show = (tone: string, words: string, steps: ReadonlyArray<ReceiptStep> = []): void => {
  byId("verdict").className = tone
  byId("verdict").textContent = words
  byId("steps").replaceChildren(...steps.map(stepItem))
  byId("contents").hidden = tone === "failed"
}

const check = async (): Promise<void> => {
  if (file === undefined) return
  const nth = ++latest
  try {
    const bytes = new Uint8Array(await file.arrayBuffer())
    const { holds, steps } = await verify(bytes, { keys: keys(), witnesses: linesOf("witnesses") })
    if (nth !== latest) return
    if (holds) showContents(new TextDecoder().decode(bytes))
    const isSure = steps.every(({ result }) => result === "passed")
    const words = isSure ? "The receipt holds." : "The receipt holds, with warnings."
    show(holds ? (isSure ? "passed" : "warning") : "failed", holds ? words : "This receipt does not hold.", steps)
  } catch (error) {
    if (nth === latest)
      show("failed", `The receipt could not be checked. ${error instanceof Error ? error.message : String(error)}`)
  }
}

const choose = (files: FileList | null | undefined): void => {
  file = files?.[0] ?? file
  void check()
}

const input = byId("file")
input.addEventListener("change", () => {
  if (input instanceof HTMLInputElement) choose(input.files)
})
for (const id of ["keys", "witnesses"]) byId(id).addEventListener("change", () => void check())
document.addEventListener("dragover", (event) => {
  event.preventDefault()
  byId("drop").classList.add("over")
})
document.addEventListener("dragleave", () => byId("drop").classList.remove("over"))
document.addEventListener("drop", (event) => {
  event.preventDefault()
  byId("drop").classList.remove("over")
  choose(event.dataTransfer?.files)
})
