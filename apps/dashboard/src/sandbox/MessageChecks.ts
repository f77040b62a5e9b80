import type { SandboxMessageWithContent } from "../api/Records.ts"

/** Gmail clips HTML above this size. */
const GMAIL_CLIP_BYTES = 102 * 1024
/** Most mail clients truncate longer subjects. */
const LONG_SUBJECT_CHARS = 78

export interface Check {
  readonly name: string
  readonly level: "good" | "warn" | "note"
  readonly message: string
}

export interface Link {
  readonly href: string
  readonly text: string
}

/** Styles are removed before parsing, because each inline style would violate the page's content security policy. */
const STYLES = /<style\b[^>]*>[\s\S]*?<\/style\s*>|\sstyle\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)/giu

/** Parses HTML into an inert document: no script runs and nothing is fetched. */
const documentOf = (html: string): Document => new DOMParser().parseFromString(html.replaceAll(STYLES, ""), "text/html")

export const linksOf = ({ html }: SandboxMessageWithContent): ReadonlyArray<Link> =>
  html === null
    ? []
    : [...documentOf(html).querySelectorAll("a")].map((link) => ({
        href: link.getAttribute("href") ?? "",
        text: (link.textContent ?? "").trim(),
      }))

/** Whether the link cannot work outside this machine. Checked without network requests, which a sandbox must not make. */
const isBroken = ({ href }: Link): boolean => {
  if (/^(?:mailto|tel):.+/iu.test(href)) return false
  if (!URL.canParse(href)) return true
  const { hostname, protocol } = new URL(href)
  if (protocol !== "http:" && protocol !== "https:") return true
  return (
    hostname === "localhost" || hostname.startsWith("127.") || /\.(?:test|example|invalid|localhost)$/u.test(hostname)
  )
}

const kilobytes = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KB`

const check = (level: Check["level"], name: string, message: string): Check => ({ level, name, message })

const bodyChecks = ({ html, text }: SandboxMessageWithContent): ReadonlyArray<Check> => {
  const bytes = new TextEncoder().encode(html ?? "").length
  const limit = kilobytes(GMAIL_CLIP_BYTES)
  return [
    text === null || text.trim() === ""
      ? check("warn", "Text part", "Missing. Some mail clients need it, and spam filters expect it.")
      : check("good", "Text part", "Present, for mail clients without HTML."),
    html === null
      ? check("note", "HTML part", "None. The message is plain text.")
      : bytes > GMAIL_CLIP_BYTES
        ? check("warn", "Size", `The HTML is ${kilobytes(bytes)}. Gmail clips messages over ${limit}.`)
        : check("good", "Size", `The HTML is ${kilobytes(bytes)}, below the ${limit} at which Gmail clips messages.`),
  ]
}

const imageChecks = ({ attachments, html }: SandboxMessageWithContent): ReadonlyArray<Check> => {
  if (html === null) return []
  const images = [...documentOf(html).querySelectorAll("img")]
  if (images.length === 0) return []
  const without = images.filter((image) => image.getAttribute("alt") === null).length
  const contentIds = new Set(attachments.map(({ content_id }) => (content_id ?? "").replace(/^<|>$/gu, "")))
  const missing = images
    .map((image) => image.getAttribute("src") ?? "")
    .filter((src) => src.startsWith("cid:") && !contentIds.has(decodeURIComponent(src.slice(4))))
  const lacking = `${without} of ${images.length} images have no alt text, which is shown while images are blocked.`
  return [
    without > 0 ? check("warn", "Alt text", lacking) : check("good", "Alt text", "All images have alt text."),
    ...(missing.length > 0 ? [check("warn", "Inline images", `No attachment for ${missing.join(", ")}.`)] : []),
  ]
}

const linkChecks = (mail: SandboxMessageWithContent): ReadonlyArray<Check> => {
  const links = linksOf(mail)
  if (links.length === 0) return []
  const broken = links.filter(isBroken).map(({ href }) => (href === "" ? "(empty)" : href))
  const withoutText = links.filter(({ text }) => text === "").length
  const valid = `${links.length} ${links.length === 1 ? "link has a valid address" : "links have valid addresses"}`
  return [
    broken.length > 0
      ? check("warn", "Links", `These links will not work for recipients: ${broken.join(", ")}`)
      : check("good", "Links", `${valid}. Waybill does not request them.`),
    ...(withoutText > 0 ? [check("note", "Link text", `Links without text: ${withoutText}.`)] : []),
  ]
}

const domainCheck = (domain: string, status: string | undefined): Check => {
  if (status === undefined) return check("warn", "Domain", `${domain} is no longer one of your domains.`)
  if (/(?:^|\.)(?:test|example|invalid|localhost)$/u.test(domain))
    return check("note", "Domain", `${domain} is reserved for tests. Add your own domain to deliver mail.`)
  return status === "verified"
    ? check("good", "Domain", `${domain} is verified.`)
    : check("warn", "Domain", `${domain} is ${status}. Outside the sandbox this message would not be sent.`)
}

const envelopeChecks = (
  mail: SandboxMessageWithContent,
  domains: ReadonlyMap<string, string>,
): ReadonlyArray<Check> => {
  const header = (name: string) => mail.headers.find((each) => each.name.toLowerCase() === name)?.value ?? ""
  if (!mail.livemode) return [check("note", "Sender", "Test mail may come from any domain and is not signed.")]
  const domain = /@([^>\s]+)/u.exec(header("from"))?.[1]?.toLowerCase() ?? ""
  const signature = header("dkim-signature")
  return [
    domainCheck(domain, domains.get(domain)),
    signature === ""
      ? check("warn", "Signature", "No DKIM signature.")
      : check("good", "Signature", `DKIM signature of ${/\bd=([^;\s]+)/u.exec(signature)?.[1] ?? domain}.`),
  ]
}

const subjectCheck = ({ subject }: SandboxMessageWithContent): Check => {
  if (subject.trim() === "") return check("warn", "Subject", "Empty.")
  const length = `${subject.length} characters.`
  return subject.length > LONG_SUBJECT_CHARS
    ? check("note", "Subject", `${length} Most mail clients truncate it.`)
    : check("good", "Subject", length)
}

/** Checks a message without network requests. Warnings come first. */
export const checksOf = (
  mail: SandboxMessageWithContent,
  domains: ReadonlyMap<string, string>,
): ReadonlyArray<Check> => {
  const checks = [
    ...bodyChecks(mail),
    ...envelopeChecks(mail, domains),
    subjectCheck(mail),
    ...imageChecks(mail),
    ...linkChecks(mail),
  ]
  const order = { warn: 0, note: 1, good: 2 }
  return checks.toSorted((a, b) => order[a.level] - order[b.level])
}
