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

const bodyChecks = ({ html, text }: SandboxMessageWithContent): ReadonlyArray<Check> => {
  const bytes = new TextEncoder().encode(html ?? "").length
  return [
    text === null || text.trim() === ""
      ? { name: "Text part", level: "warn", message: "Missing. Some mail clients need it, and spam filters expect it." }
      : { name: "Text part", level: "good", message: "Present, for mail clients without HTML." },
    html === null
      ? { name: "HTML part", level: "note", message: "None. The message is plain text." }
      : bytes > GMAIL_CLIP_BYTES
        ? {
            name: "Size",
            level: "warn",
            message: `The HTML is ${kilobytes(bytes)}. Gmail clips messages over ${kilobytes(GMAIL_CLIP_BYTES)}.`,
          }
        : {
            name: "Size",
            level: "good",
            message: `The HTML is ${kilobytes(bytes)}, below the ${kilobytes(GMAIL_CLIP_BYTES)} at which Gmail clips messages.`,
          },
  ]
}

const imageChecks = ({ attachments, html }: SandboxMessageWithContent): ReadonlyArray<Check> => {
  if (html === null) return []
  const images = [...documentOf(html).querySelectorAll("img")]
  if (images.length === 0) return []
  const withoutAlt = images.filter((image) => image.getAttribute("alt") === null)
  const contentIds = new Set(attachments.map(({ content_id }) => (content_id ?? "").replace(/^<|>$/gu, "")))
  const missing = images
    .map((image) => image.getAttribute("src") ?? "")
    .filter((src) => src.startsWith("cid:") && !contentIds.has(decodeURIComponent(src.slice(4))))
  return [
    withoutAlt.length > 0
      ? {
          name: "Alt text",
          level: "warn",
          message: `${withoutAlt.length} of ${images.length} images have no alt text, which is shown while images are blocked.`,
        }
      : { name: "Alt text", level: "good", message: "All images have alt text." },
    ...(missing.length > 0
      ? [{ name: "Inline images", level: "warn" as const, message: `No attachment for ${missing.join(", ")}.` }]
      : []),
  ]
}

const linkChecks = (mail: SandboxMessageWithContent): ReadonlyArray<Check> => {
  const links = linksOf(mail)
  if (links.length === 0) return []
  const broken = links.filter(isBroken)
  const withoutText = links.filter(({ text }) => text === "")
  return [
    broken.length > 0
      ? {
          name: "Links",
          level: "warn",
          message: `These links will not work for recipients: ${broken.map(({ href }) => (href === "" ? "(empty)" : href)).join(", ")}`,
        }
      : {
          name: "Links",
          level: "good",
          message: `${links.length} ${links.length === 1 ? "link has a valid address" : "links have valid addresses"}. Waybill does not request them.`,
        },
    ...(withoutText.length > 0
      ? [{ name: "Link text", level: "note" as const, message: `Links without text: ${withoutText.length}.` }]
      : []),
  ]
}

const envelopeChecks = (
  mail: SandboxMessageWithContent,
  domains: ReadonlyMap<string, string>,
): ReadonlyArray<Check> => {
  const header = (name: string) => mail.headers.find((each) => each.name.toLowerCase() === name)?.value ?? ""
  const domain = /@([^>\s]+)/u.exec(header("from"))?.[1]?.toLowerCase() ?? ""
  const status = domains.get(domain)
  if (!mail.livemode)
    return [
      { name: "Sender", level: "note", message: "Test mail may come from any domain and is not signed." },
      subjectCheck(mail),
    ]
  const isReserved = /(?:^|\.)(?:test|example|invalid|localhost)$/u.test(domain)
  return [
    status === undefined
      ? { name: "Domain", level: "warn", message: `${domain} is no longer one of your domains.` }
      : isReserved
        ? {
            name: "Domain",
            level: "note",
            message: `${domain} is reserved for tests. Add your own domain to deliver mail.`,
          }
        : status === "verified"
          ? { name: "Domain", level: "good", message: `${domain} is verified.` }
          : {
              name: "Domain",
              level: "warn",
              message: `${domain} is ${status}. Outside the sandbox this message would not be sent.`,
            },
    header("dkim-signature") === ""
      ? { name: "Signature", level: "warn", message: "No DKIM signature." }
      : {
          name: "Signature",
          level: "good",
          message: `DKIM signature of ${/\bd=([^;\s]+)/u.exec(header("dkim-signature"))?.[1] ?? domain}.`,
        },
    subjectCheck(mail),
  ]
}

const subjectCheck = ({ subject }: SandboxMessageWithContent): Check =>
  subject.trim() === ""
    ? { name: "Subject", level: "warn", message: "Empty." }
    : subject.length > LONG_SUBJECT_CHARS
      ? { name: "Subject", level: "note", message: `${subject.length} characters. Most mail clients truncate it.` }
      : { name: "Subject", level: "good", message: `${subject.length} characters.` }

/** Checks a message without network requests. Warnings come first. */
export const checksOf = (
  mail: SandboxMessageWithContent,
  domains: ReadonlyMap<string, string>,
): ReadonlyArray<Check> => {
  const checks = [...bodyChecks(mail), ...envelopeChecks(mail, domains), ...imageChecks(mail), ...linkChecks(mail)]
  const order = { warn: 0, note: 1, good: 2 }
  return checks.toSorted((a, b) => order[a.level] - order[b.level])
}
