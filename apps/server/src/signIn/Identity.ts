import type * as Id from "@waybill/domain/values/Id"
import type { Identity } from "@waybill/store/users/Users"

/** Names that stand for a user towards the sign-in library, which otherwise looks for an address. */
const SUFFIX = "@user.invalid"
/** A well-formed name of nobody: the library then works as long as for a wrong password. */
const NOBODY = `nobody${SUFFIX}`

export const nameOf = (id: Id.UserId | undefined): string => (id === undefined ? NOBODY : `${id}${SUFFIX}`)

/** The user whom a name stands for; an address of a person is none. */
export const idIn = (name: string): string | undefined =>
  name !== NOBODY && name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : undefined

/**
 * Passwords that are compared at least. An address that is known in one account costs as much as one that is known in
 * two or in none, so that the time of an answer does not tell.
 */
const MIN_COMPARED = 2

type Verify = (given: { readonly hash: string; readonly password: string }) => Promise<boolean>

/** Finds whom an address and a password mean, of all users with this address: the first one whose password it is. */
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
 * Finds whom a person known to the identity provider means: the user bound to the subject, and otherwise the only one with
 * the address. Of several none is chosen, since any account may have invited the address to be signed in to.
 */
export const bySubject = (identities: ReadonlyArray<Identity>, subject: string): Id.UserId | undefined => {
  const bound = identities.find((each) => each.subject === subject)
  return (bound ?? (identities.length === 1 ? identities[0] : undefined))?.id
}
