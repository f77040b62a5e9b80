import { nearestName } from "../values/nearestName.ts"

/**
 * Providers of mailboxes that a large part of all mail goes to, by the domains of their addresses. Few, so that counts stay as
 * small as they are; the domains of companies are "other", whichever provider serves them. A domain without a dot is that of a
 * provider with one in many countries, such as `yahoo.co.uk`. Without an import of a library, because browsers load it too.
 */
const DOMAINS = {
  gmail: ["gmail.com", "googlemail.com"],
  outlook: ["outlook", "hotmail", "live", "msn.com", "passport.com"],
  yahoo: ["yahoo", "ymail.com", "rocketmail.com", "aol.com", "aim.com"],
  icloud: ["icloud.com", "me.com", "mac.com"],
  gmx: ["gmx", "web.de", "mail.com"],
  proton: ["proton.me", "protonmail.com", "pm.me"],
  orange: ["orange.fr", "wanadoo.fr"],
  telekom: ["t-online.de", "magenta.de"],
  qq: ["qq.com", "foxmail.com"],
  netease: ["163.com", "126.com", "yeah.net"],
  mailru: ["mail.ru", "inbox.ru", "list.ru", "bk.ru"],
  yandex: ["yandex.ru", "yandex.com", "ya.ru"],
  comcast: ["comcast.net"],
} as const

export type MailboxProvider = keyof typeof DOMAINS

/** The providers, and what people call them. */
export const NAMES: { readonly [P in MailboxProvider]: string } = {
  gmail: "Gmail",
  outlook: "Outlook and Hotmail",
  yahoo: "Yahoo and AOL",
  icloud: "iCloud",
  gmx: "GMX and Web.de",
  proton: "Proton",
  orange: "Orange",
  telekom: "Telekom",
  qq: "QQ",
  netease: "NetEase",
  mailru: "Mail.ru",
  yandex: "Yandex",
  comcast: "Comcast",
}

export const OTHER = "other"

export const isProvider = (text: string): text is MailboxProvider => Object.hasOwn(DOMAINS, text)

export const ALL: ReadonlyArray<MailboxProvider> = Object.keys(DOMAINS).filter(isProvider)

const PROVIDERS: ReadonlyMap<string, MailboxProvider> = new Map(
  ALL.flatMap((provider) => DOMAINS[provider].map((domain) => [domain, provider] as const)),
)

/** Country codes, and `com`, `co.uk` and the like. Postgres reads the same expression. */
const COUNTRIES = String.raw`\.(?:com|net|[a-z]{2}|co\.[a-z]{2}|com\.[a-z]{2})`
const INTERNATIONAL = new RegExp(
  `^(${[...PROVIDERS.keys()].filter((domain) => !domain.includes(".")).join("|")})${COUNTRIES}$`,
  "u",
)

const ofDomain = (domain: string): MailboxProvider | undefined =>
  PROVIDERS.get(domain) ?? PROVIDERS.get(INTERNATIONAL.exec(domain)?.[1] ?? "")

/** Returns the provider of an address. */
export const of = (address: string): MailboxProvider | typeof OTHER =>
  ofDomain(address.slice(address.lastIndexOf("@") + 1).toLowerCase()) ?? OTHER

/** Parts of an address in small letters, one of which those of these providers have. Few others have any. */
export const partsOf = (providers: ReadonlyArray<MailboxProvider>): ReadonlyArray<string> =>
  providers.flatMap((provider) => DOMAINS[provider].map((domain) => `@${domain}${domain.includes(".") ? "" : "."}`))

/** An expression for the addresses in small letters of these providers, and no others. */
export const expressionOf = (providers: ReadonlyArray<MailboxProvider>): string => {
  const domains = providers.flatMap((provider) =>
    DOMAINS[provider].map((domain) => (domain.includes(".") ? domain.replaceAll(".", "\\.") : domain + COUNTRIES)),
  )
  return `@(?:${domains.join("|")})$`
}

/** Companies by whose names people know a provider. */
const COMPANIES: ReadonlyMap<string, MailboxProvider> = new Map([
  ["google", "gmail"],
  ["microsoft", "outlook"],
  ["apple", "icloud"],
])

/** Returns the provider that a text names: itself, its company, or a domain with or without `.com`, such as `hotmail`. */
export const named = (text: string): MailboxProvider | undefined => {
  const name = text.toLowerCase().replace(/^@/u, "")
  return isProvider(name) ? name : (COMPANIES.get(name) ?? ofDomain(name) ?? ofDomain(`${name}.com`))
}

/** Returns the name that a misspelled one probably means. */
export const nearest = (text: string): string | undefined => nearestName(text, [...ALL, ...COMPANIES.keys(), "hotmail"])
