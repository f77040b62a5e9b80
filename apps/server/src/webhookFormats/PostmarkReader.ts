/** Waybill does not guess programs and places from the header of a request. */
const UNKNOWN = { Name: "", Company: "", Family: "" }

/** Returns who opened a message or clicked, as far as the request tells it. */
export const of = ({ ip, user_agent }: Readonly<Record<string, unknown>>) => ({
  UserAgent: user_agent ?? "",
  Client: UNKNOWN,
  OS: UNKNOWN,
  Platform: "Unknown",
  Geo: ip === null || ip === undefined ? {} : { IP: ip },
})
