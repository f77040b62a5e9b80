import type { DmarcReports } from "../api/Records.ts"

export const number = (count: number): string => count.toLocaleString("en")

/** A part of a whole in percent. What is nearly all or nearly nothing is not rounded to it. */
export const share = (part: number, whole: number): string => {
  if (whole === 0) return "–"
  const percent = Math.round((part / whole) * 100)
  if (percent === 100 && part < whole) return "99 %"
  return percent === 0 && part > 0 ? "1 %" : `${percent} %`
}

const days = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" })

/** A day of a report, which is one of UTC. */
export const day = (date: string): string => days.format(new Date(`${date}T00:00:00Z`))

/** Reporters by the domain that signed, with the name that each gives itself if it says more. */
export const reporters = (list: DmarcReports["reporters"]): string =>
  list
    .map(({ domain, org_name }) =>
      org_name === "" || org_name.toLowerCase() === domain ? domain : `${domain} (${org_name})`,
    )
    .join(", ")
