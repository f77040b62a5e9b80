/**
 * Providers of mailboxes that a large part of all mail goes to, by the domains of their addresses. Few, so that counts stay as
 * small as they are; the domains of companies are "other", whichever provider serves them.
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

export const OTHER = "other"

/** A name without a dot is that of a provider with a domain in many countries, such as `yahoo.co.uk`. */
const PROVIDERS: ReadonlyMap<string, string> = new Map(
  Object.entries(DOMAINS).flatMap(([provider, domains]) => domains.map((domain) => [domain, provider] as const)),
)

/** Country codes, and `com`, `co.uk` and the like. */
const INTERNATIONAL = /^(outlook|hotmail|live|yahoo|gmx)\.(?:com|net|[a-z]{2}|co\.[a-z]{2}|com\.[a-z]{2})$/u

/** Returns the provider of an address. */
export const of = (address: string): string => {
  const domain = address.slice(address.lastIndexOf("@") + 1).toLowerCase()
  return PROVIDERS.get(domain) ?? PROVIDERS.get(INTERNATIONAL.exec(domain)?.[1] ?? "") ?? OTHER
}
