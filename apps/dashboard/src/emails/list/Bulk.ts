import * as Api from "../../api/Api.ts"
import type { Email } from "../../api/Records.ts"
import type { Action } from "../../ui/feedback/BulkSteps.ts"
import { GIVEN_UP } from "../search/EmailFilters.ts"

export type Name = "cancel" | "resend" | "suppress"

const counted = (count: number, noun: "email" | "address"): string =>
  `${count.toLocaleString("en")} ${count === 1 ? noun : noun === "email" ? "emails" : "addresses"}`

/** Says that an action is for some of the selected emails only. */
const some = (count: number, selected: number, why: string): string =>
  count === selected ? "" : ` Only ${count} of the ${selected} selected emails: the others ${why}.`

export const actionOf = (name: Name, emails: ReadonlyArray<Email>): Action => ACTIONS[name](emails)

const ACTIONS: { readonly [N in Name]: (emails: ReadonlyArray<Email>) => Action } = {
  cancel: (emails) => {
    const waiting = emails.filter(({ status }) => status === "queued")
    return {
      name: `Cancel ${counted(waiting.length, "email")}`,
      isDestructive: true,
      text: `Recipients who have not received them yet will not receive them.${some(waiting.length, emails.length, "were sent already")}`,
      steps: waiting.map(({ id }) => ({ subject: id, run: () => Api.post(`/email/${id}/cancel`) })),
      done: (count) => `${counted(count, "email")} canceled.`,
    }
  },
  resend: (emails) => {
    const unreached = emails.filter(({ recipients }) => recipients.some(({ status }) => GIVEN_UP.has(status)))
    return {
      name: `Resend ${counted(unreached.length, "email")}`,
      isDestructive: false,
      text: `A copy of each goes to the recipients that it did not reach. Suppressed addresses are left out.${some(unreached.length, emails.length, "have no such recipient")}`,
      steps: unreached.map(({ id }) => ({ subject: id, run: () => Api.post(`/email/${id}/resend`) })),
      done: (count) => `${counted(count, "email")} sent again.`,
    }
  },
  suppress: (emails) => {
    const addresses = [...new Set(emails.flatMap(({ recipients }) => recipients.map(({ address }) => address)))]
    return {
      name: `Suppress ${counted(addresses.length, "address")}`,
      isDestructive: true,
      text: "All recipients of the selected emails receive no more mail, scheduled mail included, until somebody removes them from the suppressions.",
      isNamed: true,
      steps: addresses.map((email) => ({
        subject: email,
        run: () => Api.post("/suppressions", { email, reason: "manual" }),
      })),
      done: (count) => `${counted(count, "address")} suppressed.`,
    }
  },
}
