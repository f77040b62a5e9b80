import { shownRecipient } from "./shownRecipient.ts"

type AddressedEmail = Parameters<typeof shownRecipient<{ readonly address: string; readonly status: string }>>[0]

/** Returns addresses of an email with the one first whose status is shown: whom a "partly bounced" email did not reach. */
export const shownFirst = (email: AddressedEmail, addresses: ReadonlyArray<string>): ReadonlyArray<string> => {
  const address = shownRecipient(email)?.address
  if (address === undefined) return addresses
  const isShown = (each: string) => each === address || each.endsWith(`<${address}>`)
  return [addresses.find(isShown) ?? address, ...addresses.filter((each) => !isShown(each))]
}
