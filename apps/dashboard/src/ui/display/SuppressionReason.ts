import type { Suppression } from "../../api/Records.ts"

export const NAMES: { readonly [R in Suppression["reason"]]: string } = {
  hard_bounce: "Hard bounce",
  complaint: "Complaint",
  manual: "Manual",
  unsubscribe: "Unsubscribe",
}

const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" })

/** Says since when and why an address is suppressed: "Suppressed since Nov 29, 2026, hard bounce". */
export const sentenceOf = ({ created_at, reason }: Suppression): string =>
  `Suppressed since ${day.format(new Date(created_at))}, ${NAMES[reason].toLowerCase()}`
