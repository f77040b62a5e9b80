import { APIError } from "better-auth/api"

/** What is asked of the store about changes of passwords and second factors. */
export interface ProofStore {
  /** How often they have changed, once no change is under way. */
  readonly version: (user_id: string) => Promise<number | undefined>
  /** Ends everything short-lived that stands for a user, and says the version that this makes. */
  readonly end: (user_id: string) => Promise<number | undefined>
  readonly endSession: (id: string) => Promise<void>
  readonly endVerification: (id: string) => Promise<void>
}

interface Begun {
  readonly user_id: string
  readonly version: number | undefined
}

interface Asked {
  readonly request?: Request | undefined
}

const TRUST_PREFIX = "trust-device-"

/**
 * Refuses a sign-in that a change of the password or of a second factor has overtaken. The version is read before a proof is
 * checked and again once the session is written: a change that comes later still deletes that session.
 */
export const make = (store: ProofStore) => {
  const requests = new WeakMap<Request, Begun>()
  const begin = (context: Asked | null, begun: Begun): void => {
    if (context?.request !== undefined && !requests.has(context.request)) requests.set(context.request, begun)
  }
  const isOvertaken = async (context: Asked | null, user_id: string): Promise<boolean> => {
    const begun = context?.request === undefined ? undefined : requests.get(context.request)
    return begun?.user_id === user_id && begun.version !== (await store.version(user_id))
  }
  return {
    begin,
    /** Where nothing was known of the user before: the proof was checked a moment ago. */
    beforeSession: async (context: Asked | null, user_id: string): Promise<void> =>
      begin(context, { user_id, version: await store.version(user_id) }),
    afterSession: async (context: Asked | null, session: { readonly id: string; readonly userId: string }) => {
      if (!(await isOvertaken(context, session.userId))) return
      await store.endSession(session.id)
      throw overtaken()
    },
    afterVerification: async (
      context: Asked | null,
      { id, identifier, value }: { readonly id: string; readonly identifier: string; readonly value: string },
    ) => {
      if (!identifier.startsWith(TRUST_PREFIX) || !(await isOvertaken(context, value))) return
      await store.endVerification(id)
      throw overtaken()
    },
    /** A change that the request makes itself does not overtake it. */
    changed: async (context: Asked | null, user_id: string): Promise<void> => {
      const version = await store.end(user_id)
      const begun = context?.request === undefined ? undefined : requests.get(context.request)
      if (context?.request === undefined || begun?.version === undefined || version !== begun.version + 1) return
      requests.set(context.request, { user_id, version })
    },
  }
}

export type Proofs = ReturnType<typeof make>

const overtaken = () => new APIError("UNAUTHORIZED", { code: "INVALID_TWO_FACTOR_COOKIE", message: "" })
