import { shownStatus } from "./shownStatus.ts"

type AddressedEmail = Parameters<typeof shownStatus>[0] & {
  readonly recipients: ReadonlyArray<{ readonly address: string; readonly status: string }>
}

const PARTLY = "partly "

/** Returns addresses of an email with the one first that it is shown for: whom a "partly bounced" email did not reach. */
export const missedFirst = (email: AddressedEmail, addresses: ReadonlyArray<string>): ReadonlyArray<string> => {
  const shown = shownStatus(email, 0)
  if (!shown.startsWith(PARTLY)) return addresses
  const missed = email.recipients.find(({ status }) => status === shown.slice(PARTLY.length))?.address
  return missed === undefined ? addresses : [missed, ...addresses.filter((address) => address !== missed)]
}
