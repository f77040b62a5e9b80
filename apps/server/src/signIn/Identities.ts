import type * as Id from "@waybill/domain/values/Id"
import type { Identity } from "@waybill/store/users/Users"

/** Suffix of the unique name of a user, which the library receives in place of an email address. */
const SUFFIX = "@user.invalid"
/** Name that no user has, for which the library takes as long as for a wrong password. */
const NOBODY = `nobody${SUFFIX}`

export const nameOf = (id: Id.UserId | undefined): string => (id === undefined ? NOBODY : `${id}${SUFFIX}`)

/** Returns the user id in a name, or none for an email address. */
export const idIn = (name: string): string | undefined =>
  name !== NOBODY && name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : undefined

/**
 * Minimum number of passwords that are compared, so that the time of a response does not reveal whether an address is
 * registered in no, one or two accounts.
 */
const MIN_COMPARED = 2

type Verify = (input: { readonly hash: string; readonly password: string }) => Promise<boolean>

/** Returns the first user with this address whose password matches. */
export const byPassword = async (
  identities: ReadonlyArray<Identity>,
  password: string,
  decoy: string,
  verify: Verify,
): Promise<Id.UserId | undefined> => {
  const missing = Math.max(0, MIN_COMPARED - identities.length)
  const decoys = Array.from({ length: missing }, () => verify({ hash: decoy, password }))
  const fits = await Promise.all(
    identities.map(({ password_hash }) =>
      verify({ hash: password_hash ?? decoy, password }).then((fit) => fit && password_hash !== null),
    ),
  )
  await Promise.all(decoys)
  return identities.find((_, nth) => fits[nth] === true)?.id
}

/**
 * Returns the user bound to a subject of the identity provider, or else the only user with its address. If there are
 * several, none is returned, since any account may have invited the address.
 */
export const bySubject = (identities: ReadonlyArray<Identity>, subject: string): Id.UserId | undefined => {
  const bound = identities.find((each) => each.subject === subject)
  return (bound ?? (identities.length === 1 ? identities[0] : undefined))?.id
}
