import * as RateWindows from "@waybill/store/admission/RateWindows"

/** A stranger who came this recently is not sent away for a newcomer of the same network: a login takes a moment. */
export const GRACE_MS = 2_000

export interface Bounds {
  /** All connections. */
  readonly places: number
  /** Connections that have not shown who they are; the other places are reserved for those that have. */
  readonly strangers: number
  /** Connections of one network: an IPv4 address, or an IPv6 /64. */
  readonly perNetwork: number
  /** Of these, connections that have not shown who they are. */
  readonly strangersPerNetwork: number
}

export interface Guest {
  readonly remoteAddress: string
  /** Whether it has shown who it is: by a login, or by a recipient that only this instance can have made. */
  readonly isKnown: () => boolean
  /** Whether it waits for an answer of ours, or is in the middle of a message. */
  readonly isBusy: () => boolean
  /** Called when its place is given to another. */
  readonly leave: () => void
}

export interface Places {
  /** Takes a place, if need be from another guest. False where every place is in use by somebody who may keep it. */
  readonly enter: (guest: Guest) => boolean
  readonly remove: (guest: Guest) => void
  /** Whether strangers have more than half of the places that they may have. */
  readonly isCrowded: () => boolean
}

interface Seat {
  readonly guest: Guest
  readonly network: string
  readonly site: string
  readonly since: number
}

/** One customer of a provider often has an IPv6 /48, and so 65,536 networks. */
const siteOf = (network: string): string => /^ip\/\w+:\w+:\w+:/u.exec(network)?.[0] ?? network

const isStranger = ({ guest }: Seat) => !guest.isKnown()
const isFree = ({ guest }: Seat) => !guest.isBusy()

/** Of those that may be sent away the oldest one of the site that has most of them: a crowd makes room for itself. */
const ofLargestSite = (seats: ReadonlyArray<Seat>): Seat | undefined => {
  const counts = new Map<string, number>()
  for (const { site } of seats) counts.set(site, (counts.get(site) ?? 0) + 1)
  const largest = Math.max(0, ...counts.values())
  // In order of arrival, for seats stand in that order.
  return seats.find(({ site }) => counts.get(site) === largest)
}

/** The places of one listener. Connections that nobody knows can take a part of them, and lose them first. */
export const make = (bounds: Bounds, now: () => number = () => performance.now()): Places => {
  const seats = new Map<Guest, Seat>()

  const oldestOf = (candidates: ReadonlyArray<Seat>): Seat | undefined =>
    candidates.find((seat) => isFree(seat) && now() - seat.since >= GRACE_MS)

  /** Who has to leave for a newcomer of this network; false where the newcomer cannot come in. */
  const inTheWay = (network: string): Seat | undefined | false => {
    const all = [...seats.values()]
    const neighbours = all.filter((seat) => seat.network === network)
    const strangeNeighbours = neighbours.filter(isStranger)
    if (neighbours.length >= bounds.perNetwork || strangeNeighbours.length >= bounds.strangersPerNetwork)
      return oldestOf(strangeNeighbours) ?? false
    const strangers = all.filter(isStranger)
    if (strangers.length >= bounds.strangers) return ofLargestSite(strangers.filter(isFree)) ?? false
    if (all.length < bounds.places) return undefined
    return ofLargestSite(strangers.filter(isFree)) ?? ofLargestSite(all.filter(isFree)) ?? false
  }

  return {
    enter: (guest) => {
      const network = RateWindows.clientAddress(guest.remoteAddress).bucket
      const other = inTheWay(network)
      if (other === false) return false
      if (other !== undefined) {
        seats.delete(other.guest)
        other.guest.leave()
      }
      seats.set(guest, { guest, network, site: siteOf(network), since: now() })
      return true
    },
    remove: (guest) => void seats.delete(guest),
    isCrowded: () => [...seats.values()].filter(isStranger).length * 2 > bounds.strangers,
  }
}
