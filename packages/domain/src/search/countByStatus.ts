import { shownStatus } from "./shownStatus.ts"

/** Writes how many emails are in each state, as lists show them: "3 delivered, 1 deferred". */
export const countByStatus = (emails: ReadonlyArray<Parameters<typeof shownStatus>[0]>, now: number): string => {
  const counts = new Map<string, number>()
  for (const email of emails) {
    const status = shownStatus(email, now)
    counts.set(status, (counts.get(status) ?? 0) + 1)
  }
  return [...counts].map(([status, count]) => `${count} ${status}`).join(", ")
}
