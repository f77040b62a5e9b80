import { useQuery } from "@tanstack/react-query"
import { Ban, Globe, KeyRound, LayoutTemplate, type LucideIcon, Users, Webhook } from "lucide-react"
import { useMemo } from "react"
import type { Page, Suppression } from "../api/Records.ts"
import * as Queries from "../api/Queries.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { webhookName } from "../webhooks/webhookName.ts"

/** A record that has a screen, or a row on one. */
export interface Found {
  readonly name: string
  readonly kind: string
  readonly icon: LucideIcon
  readonly to: string
  readonly search?: Readonly<Record<string, string>>
}

const MIN_CHARS = 2
/** Records of one kind that are shown. */
const MAX_OF_KIND = 4

/** A domain or an address: a word with a dot within. */
const NAME = /^\S+\.\p{L}{2,}$/u

/** Parts that a record may have: the whole text, and each domain or address of a question such as "is acme.com healthy?". */
const partsOf = (query: string): ReadonlyArray<string> => {
  const text = query.toLowerCase()
  return [
    text,
    ...text
      .split(/\s+/u)
      .map((word) => word.replace(/[?!,.]$/u, ""))
      .filter((word) => NAME.test(word)),
  ]
}

/** Shortest part of an address that suppressions are searched for. */
const MIN_ADDRESS_CHARS = 3
/** Lines about what can be done with any webhook. */
const OF_WEBHOOKS = /^(?:disable|enable|pause) (?:a |my |the )?webhooks?$/iu

/**
 * Finds domains, templates, webhooks, API keys and members by a part of their names, and suppressions by a part of the
 * address, for which the API is asked once typing pauses.
 */
export const useRecords = (query: string, isPaused: boolean): ReadonlyArray<Found> => {
  const isAsked = query.length >= MIN_CHARS
  const isAdmin = useHasScope("admin")
  const domains = useQuery({ ...Queries.domains, enabled: useHasScope("domains:read") && isAsked }).data
  const templates = useQuery({ ...Queries.templates, enabled: useHasScope("templates:read") && isAsked }).data
  const webhooks = useQuery({ ...Queries.webhooks, enabled: useHasScope("webhooks:manage") && isAsked }).data
  const keys = useQuery({ ...Queries.apiKeys, enabled: isAdmin && isAsked }).data
  const members = useQuery({ ...Queries.members, enabled: isAdmin && isAsked }).data
  const isPart = query.length >= MIN_ADDRESS_CHARS && !/\s/u.test(query)
  const suppressions = useQuery({
    ...Queries.read<Page<Suppression>>(["suppression hits", query], "/suppressions", { q: query, limit: MAX_OF_KIND }),
    enabled: useHasScope("suppressions:read") && isPaused && isPart,
  }).data
  return useMemo(() => {
    if (!isAsked) return []
    const parts = partsOf(query)
    const isFound = (texts: ReadonlyArray<string | null>) =>
      texts.some((text) => parts.some((part) => text?.toLowerCase().includes(part)))
    const of = <A>(
      kind: Pick<Found, "kind" | "icon">,
      list: { readonly data: ReadonlyArray<A> } | undefined,
      found: (record: A) => Omit<Found, "kind" | "icon"> & { readonly texts: ReadonlyArray<string | null> },
    ): ReadonlyArray<Found> =>
      (list?.data ?? [])
        .map((record) => ({ ...kind, ...found(record) }))
        .filter(({ texts }) => isFound(texts))
        .slice(0, MAX_OF_KIND)
    const disabling = OF_WEBHOOKS.test(query) ? query.toLowerCase() : null
    return [
      ...of({ kind: "Domain", icon: Globe }, domains, ({ name }) => ({
        name,
        texts: [name],
        to: `/domains/${encodeURIComponent(name)}`,
      })),
      ...of({ kind: "Template", icon: LayoutTemplate }, templates, ({ alias, id, name }) => ({
        name,
        texts: [name, alias, id],
        to: `/templates/${id}`,
      })),
      ...of({ kind: "Webhook", icon: Webhook }, webhooks, ({ description, id, url }) => ({
        name: webhookName({ description, url }),
        texts: [description, url, id, disabling],
        to: `/webhooks/${id}`,
      })),
      ...of({ kind: "API key", icon: KeyRound }, keys, ({ id, name }) => ({
        name,
        texts: [name, id],
        to: "/settings/api-keys",
        search: { q: name },
      })),
      ...of({ kind: "Member", icon: Users }, members, ({ email, name }) => ({
        name: name === "" ? email : `${name} (${email})`,
        texts: [name, email],
        to: "/settings/members",
      })),
      ...(suppressions?.data ?? []).map(({ email }) => ({
        name: email,
        kind: "Suppression",
        icon: Ban,
        to: "/suppressions",
        search: { q: email },
      })),
    ]
  }, [domains, isAsked, keys, members, query, suppressions, templates, webhooks])
}
