import type { WholeSandboxMessage } from "../api/Records.ts"

/** Gmail shows so much of the HTML and hides the rest behind a link. */
const CLIPPED_BYTES = 102 * 1024
/** Longer subjects are cut off in most lists. */
const LONG_SUBJECT_CHARS = 78

export interface Check {
  readonly name: string
  readonly level: "good" | "warn" | "note"
  readonly said: string
}

export interface Link {
  readonly href: string
  readonly words: string
}

/** How a mail looks is not checked here, and the page's own policy complains of every style that it parses. */
const STYLES = /<style\b[^>]*>[\s\S]*?<\/style\s*>|\sstyle\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)/giu

/** Parsed into a document of its own, in which nothing runs and nothing is fetched. */
const documentOf = (html: string): Document => new DOMParser().parseFromString(html.replaceAll(STYLES, ""), "text/html")

export const linksOf = ({ html }: WholeSandboxMessage): ReadonlyArray<Link> =>
  html === null
    ? []
    : [...documentOf(html).querySelectorAll("a")].map((link) => ({
        href: link.getAttribute("href") ?? "",
        words: (link.textContent ?? "").trim(),
      }))

/** A link that leads nowhere can be told without asking the network, which a sandbox must not do. */
const isDead = ({ href }: Link): boolean => {
  if (/^(?:mailto|tel):.+/iu.test(href)) return false
  if (!URL.canParse(href)) return true
  const { hostname, protocol } = new URL(href)
  if (protocol !== "http:" && protocol !== "https:") return true
  return (
    hostname === "localhost" || hostname.startsWith("127.") || /\.(?:test|example|invalid|localhost)$/u.test(hostname)
  )
}

const kilobytes = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KB`

const body = ({ html, text }: WholeSandboxMessage): ReadonlyArray<Check> => {
  const bytes = new TextEncoder().encode(html ?? "").length
  return [
    text === null || text.trim() === ""
      ? { name: "Text part", level: "warn", said: "There is none. Some readers and all filters look for one." }
      : { name: "Text part", level: "good", said: "There is one for readers without HTML." },
    html === null
      ? { name: "HTML part", level: "note", said: "There is none; the mail is plain text." }
      : bytes > CLIPPED_BYTES
        ? {
            name: "Size",
            level: "warn",
            said: `The HTML has ${kilobytes(bytes)}; Gmail clips what is over ${kilobytes(CLIPPED_BYTES)}.`,
          }
        : {
            name: "Size",
            level: "good",
            said: `The HTML has ${kilobytes(bytes)}; nothing is clipped below ${kilobytes(CLIPPED_BYTES)}.`,
          },
  ]
}

const pictures = ({ attachments, html }: WholeSandboxMessage): ReadonlyArray<Check> => {
  if (html === null) return []
  const images = [...documentOf(html).querySelectorAll("img")]
  if (images.length === 0) return []
  const silent = images.filter((image) => image.getAttribute("alt") === null)
  const known = new Set(attachments.map(({ content_id }) => (content_id ?? "").replace(/^<|>$/gu, "")))
  const lost = images
    .map((image) => image.getAttribute("src") ?? "")
    .filter((src) => src.startsWith("cid:") && !known.has(decodeURIComponent(src.slice(4))))
  return [
    silent.length > 0
      ? {
          name: "Alternative texts",
          level: "warn",
          said: `${silent.length} of ${images.length} pictures have no alt text; with pictures off nothing stands there.`,
        }
      : { name: "Alternative texts", level: "good", said: "Every picture says in words what it shows." },
    ...(lost.length > 0
      ? [{ name: "Pictures inside", level: "warn" as const, said: `No attachment is named ${lost.join(", ")}.` }]
      : []),
  ]
}

const links = (mail: WholeSandboxMessage): ReadonlyArray<Check> => {
  const all = linksOf(mail)
  if (all.length === 0) return []
  const dead = all.filter(isDead)
  const wordless = all.filter(({ words }) => words === "")
  return [
    dead.length > 0
      ? {
          name: "Links",
          level: "warn",
          said: `These lead nowhere from outside: ${dead.map(({ href }) => (href === "" ? "(empty)" : href)).join(", ")}`,
        }
      : {
          name: "Links",
          level: "good",
          said: `${all.length} ${all.length === 1 ? "link leads" : "links lead"} to real addresses. Whether they answer is not asked.`,
        },
    ...(wordless.length > 0
      ? [{ name: "Words of links", level: "note" as const, said: `${wordless.length} have no words of their own.` }]
      : []),
  ]
}

const envelope = (mail: WholeSandboxMessage, domains: ReadonlyMap<string, string>): ReadonlyArray<Check> => {
  const header = (name: string) => mail.headers.find((each) => each.name.toLowerCase() === name)?.value ?? ""
  const domain = /@([^>\s]+)/u.exec(header("from"))?.[1]?.toLowerCase() ?? ""
  const status = domains.get(domain)
  const isReserved = /(?:^|\.)(?:test|example|invalid|localhost)$/u.test(domain)
  return [
    status === undefined
      ? { name: "Domain", level: "warn", said: `${domain} is none of your domains any more.` }
      : isReserved
        ? {
            name: "Domain",
            level: "note",
            said: `${domain} can never be real; to send for real, add a domain of yours.`,
          }
        : status === "verified"
          ? { name: "Domain", level: "good", said: `${domain} is verified.` }
          : { name: "Domain", level: "warn", said: `${domain} is ${status}; outside the sandbox nothing would leave.` },
    header("dkim-signature") === ""
      ? { name: "Signature", level: "warn", said: "The mail is not signed." }
      : {
          name: "Signature",
          level: "good",
          said: `Signed by DKIM for ${/\bd=([^;\s]+)/u.exec(header("dkim-signature"))?.[1] ?? domain}.`,
        },
    mail.subject.trim() === ""
      ? { name: "Subject", level: "warn", said: "There is none." }
      : mail.subject.length > LONG_SUBJECT_CHARS
        ? { name: "Subject", level: "note", said: `${mail.subject.length} characters; most lists cut it off.` }
        : { name: "Subject", level: "good", said: `${mail.subject.length} characters fit in a list.` },
  ]
}

/** What a second pair of eyes would find, without asking anybody. */
export const checksOf = (mail: WholeSandboxMessage, domains: ReadonlyMap<string, string>): ReadonlyArray<Check> => {
  const all = [...body(mail), ...envelope(mail, domains), ...pictures(mail), ...links(mail)]
  const order = { warn: 0, note: 1, good: 2 }
  return all.toSorted((a, b) => order[a.level] - order[b.level])
}
