/** Hosts of the services, and the doors of Waybill that stand for them. */
const DOORS: ReadonlyMap<string, string> = new Map([
  ["api.resend.com", "resend"],
  ["api.postmarkapp.com", "postmark"],
  ["api.sendgrid.com", "sendgrid"],
])

export const HOSTS: ReadonlyArray<string> = [...DOORS.keys()]

/** Parses an address; returns `undefined` for any other text. `URL.parse` is newer than Node 20. */
export const parsed = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined)

/** Returns the address of a Waybill, or throws what is wrong with a text. */
export const baseOf = (text: string | undefined): URL => {
  const base = parsed(text ?? "")
  if (base === undefined || !/^https?:$/u.test(base.protocol) || base.search !== "" || base.hash !== "")
    throw new Error(
      "@waybill/redirect: set WAYBILL_URL to the address of your Waybill, such as https://mail.example.com",
    )
  return base
}

/** Returns where a request goes instead; `undefined` for one to another host. */
export const of = (base: URL, url: URL): URL | undefined => {
  const door = DOORS.get(url.hostname)
  return door === undefined
    ? undefined
    : new URL(`${base.origin}${base.pathname.replace(/\/+$/u, "")}/compat/${door}${url.pathname}${url.search}`)
}
