import * as RateWindows from "@waybill/store/admission/RateWindows"

/** Time for which a new connection is not closed for another one of the same network, since a login takes a moment. */
export const GRACE_MS = 2_000

export interface Bounds {
  /** Maximum number of connections. */
  readonly total: number
  /** Maximum number of connections that are not identified; the other slots are reserved for those that are. */
  readonly unidentified: number
  /** Maximum number of connections of one network: an IPv4 address, or an IPv6 /64. */
  readonly perNetwork: number
  /** Maximum number of these that are not identified. */
  readonly unidentifiedPerNetwork: number
}

export interface SlotHolder {
  readonly remoteAddress: string
  /** Whether the client is identified: by a login, or by a recipient address that only this instance can have made. */
  readonly isIdentified: () => boolean
  /** Whether the client waits for a reply or is in the middle of a message. */
  readonly isBusy: () => boolean
  /** Called when the slot is given to another connection. */
  readonly leave: () => void
}

export interface ConnectionSlots {
  /** Takes a slot, if need be from another connection. False if every slot is held by a connection that may keep it. */
  readonly enter: (holder: SlotHolder) => boolean
  readonly remove: (holder: SlotHolder) => void
  /** Whether connections that are not identified use more than half of their slots. */
  readonly isCrowded: () => boolean
}

interface Slot {
  readonly holder: SlotHolder
  readonly network: string
  readonly site: string
  readonly since: number
}

/** Returns the IPv6 /48 of a network, which one customer of a provider often has and which holds 65,536 networks. */
const siteOf = (network: string): string => /^ip\/\w+:\w+:\w+:/u.exec(network)?.[0] ?? network

const isUnidentified = ({ holder }: Slot) => !holder.isIdentified()
const isIdle = ({ holder }: Slot) => !holder.isBusy()

/** Returns the oldest slot of the site that has most of them, so that a flood displaces itself. */
const oldestOfLargestSite = (slots: ReadonlyArray<Slot>): Slot | undefined => {
  const counts = new Map<string, number>()
  for (const { site } of slots) counts.set(site, (counts.get(site) ?? 0) + 1)
  const largest = Math.max(0, ...counts.values())
  // Slots are in the order of arrival.
  return slots.find(({ site }) => counts.get(site) === largest)
}

/** Slots of one listener. Connections that are not identified get only a part of them, and lose them first. */
export const make = (bounds: Bounds, now: () => number = () => performance.now()): ConnectionSlots => {
  const slots = new Map<SlotHolder, Slot>()

  const oldestIdle = (candidates: ReadonlyArray<Slot>): Slot | undefined =>
    candidates.find((slot) => isIdle(slot) && now() - slot.since >= GRACE_MS)

  /** Returns the slot to take for a connection from this network, if it needs one; false if it is refused. */
  const slotToTake = (network: string): Slot | undefined | false => {
    const all = [...slots.values()]
    const sameNetwork = all.filter((slot) => slot.network === network)
    const unidentifiedOfNetwork = sameNetwork.filter(isUnidentified)
    if (sameNetwork.length >= bounds.perNetwork || unidentifiedOfNetwork.length >= bounds.unidentifiedPerNetwork)
      return oldestIdle(unidentifiedOfNetwork) ?? false
    const unidentified = all.filter(isUnidentified)
    if (unidentified.length >= bounds.unidentified) return oldestOfLargestSite(unidentified.filter(isIdle)) ?? false
    if (all.length < bounds.total) return undefined
    return oldestOfLargestSite(unidentified.filter(isIdle)) ?? oldestOfLargestSite(all.filter(isIdle)) ?? false
  }

  return {
    enter: (holder) => {
      const network = RateWindows.clientAddress(holder.remoteAddress).bucket
      const taken = slotToTake(network)
      if (taken === false) return false
      if (taken !== undefined) {
        slots.delete(taken.holder)
        taken.holder.leave()
      }
      slots.set(holder, { holder, network, site: siteOf(network), since: now() })
      return true
    },
    remove: (holder) => void slots.delete(holder),
    isCrowded: () => [...slots.values()].filter(isUnidentified).length * 2 > bounds.unidentified,
  }
}
