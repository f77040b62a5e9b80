import * as Handshakes from "../../../../apps/server/src/smtp/Handshakes.ts"
import * as ConnectionSlots from "../../../../apps/server/src/smtp/ConnectionSlots.ts"
import { assert, describe, it } from "../../../support/effectTest.ts"

const BOUNDS: ConnectionSlots.Bounds = { total: 10, unidentified: 6, perNetwork: 4, unidentifiedPerNetwork: 3 }

class Client implements ConnectionSlots.SlotHolder {
  known = false
  busy = false
  gone = false
  readonly remoteAddress: string

  constructor(remoteAddress: string) {
    this.remoteAddress = remoteAddress
  }
  isIdentified = () => this.known
  isBusy = () => this.busy
  leave = () => void (this.gone = true)
}

const listener = (bounds = BOUNDS) => {
  let now = 0
  const places = ConnectionSlots.make(bounds, () => now)
  const all: Array<Client> = []
  return {
    places,
    wait: (ms: number) => (now += ms),
    come: (address: string, state: Partial<Pick<Client, "known" | "busy">> = {}) => {
      const client = Object.assign(new Client(address), state)
      if (!places.enter(client)) return undefined
      all.push(client)
      return client
    },
    inside: () => all.filter(({ gone }) => !gone),
  }
}

describe("the slots of an SMTP listener", () => {
  it("are partly reserved: unidentified connections get only their share and displace each other", () => {
    const { come, inside } = listener()
    for (let nth = 0; nth < 100; nth++) assert.isDefined(come(`192.0.2.${nth}`))
    assert.lengthOf(inside(), BOUNDS.unidentified)
    assert.deepStrictEqual(
      inside().map(({ remoteAddress }) => remoteAddress),
      [94, 95, 96, 97, 98, 99].map((nth) => `192.0.2.${nth}`),
    )
  })

  it.each([4, 8])("are not taken from %s identified connections while there are unidentified ones", (known) => {
    const { come, inside } = listener()
    for (let nth = 0; nth < known; nth++) come(`198.51.100.${nth}`, { known: true })
    for (let nth = 0; nth < 50; nth++) come(`192.0.2.${nth}`)
    assert.lengthOf(
      inside().filter((client) => client.known),
      known,
    )
    assert.lengthOf(inside(), BOUNDS.total)
  })

  // threat: smtp-connections
  it("are taken from the site with most of them first", () => {
    const { come } = listener()
    const alone = come("203.0.113.7")
    // Addresses of one /48, each in another /64.
    for (let nth = 0; nth < 50; nth++) come(`2001:db8:7:${nth.toString(16)}::1`)
    assert.isFalse(alone?.gone)
  })

  it("are counted by IPv6 /64 and by IPv4 address in any notation", () => {
    const { come } = listener()
    for (const [same, other] of [
      [["2001:db8::1", "2001:db8::2:3", "2001:DB8:0:0:ffff::9"], "2001:db8::4"],
      [["192.0.2.1", "::ffff:192.0.2.1", "::ffff:c000:201"], "192.0.2.1"],
    ] as const) {
      for (const address of same) assert.isDefined(come(address), address)
      assert.isUndefined(come(other), other)
    }
    assert.isDefined(come("2001:db8:0:1::4"))
  })

  it("of a network are taken for a new connection after the time to log in", () => {
    const { come, wait } = listener()
    const clients = [come("192.0.2.1"), come("192.0.2.1"), come("192.0.2.1")]
    assert.isUndefined(come("192.0.2.1"))
    wait(ConnectionSlots.GRACE_MS)
    assert.isDefined(come("192.0.2.1"))
    assert.deepStrictEqual(
      clients.map((client) => client?.gone),
      [true, false, false],
    )
  })

  it("of a network have a limit, identified or not", () => {
    const { come, wait } = listener()
    for (let nth = 0; nth < BOUNDS.perNetwork; nth++) assert.isDefined(come("192.0.2.1", { known: true }))
    wait(ConnectionSlots.GRACE_MS)
    assert.isUndefined(come("192.0.2.1"))
  })

  it("are kept by connections that wait for a reply or send a message", () => {
    const { come, inside } = listener()
    for (let nth = 0; nth < 10; nth++) come(`192.0.2.${nth}`, { known: true, busy: true })
    assert.isUndefined(come("203.0.113.7"))
    for (const client of inside().slice(3, 5)) client.busy = false
    assert.isDefined(come("203.0.113.7"))
    assert.deepStrictEqual(
      inside()
        .map(({ remoteAddress }) => remoteAddress)
        .includes("192.0.2.3"),
      false,
    )
  })

  it("are free again after a disconnect, and crowded above half of the unidentified share", () => {
    const { come, inside, places } = listener()
    for (let nth = 0; nth < 3; nth++) come(`192.0.2.${nth}`)
    assert.isFalse(places.isCrowded())
    const fourth = come("192.0.2.4")
    assert.isTrue(places.isCrowded())
    if (fourth !== undefined) places.remove(fourth)
    assert.isFalse(places.isCrowded())
    assert.lengthOf(inside(), 4)
  })
})

describe("TLS handshakes on an SMTP listener", () => {
  const paced = () => {
    let tick: (() => void) | undefined
    const handshakes = Handshakes.make((next) => {
      tick = next
      return () => (tick = undefined)
    })
    return { handshakes, tick: () => tick?.(), isTicking: () => tick !== undefined }
  }

  // threat: smtp-connections
  it("begin in the order of requests, at a limited rate", () => {
    const { handshakes, isTicking, tick } = paced()
    const begun: Array<number> = []
    for (let nth = 0; nth < 300; nth++) handshakes.begin(() => begun.push(nth))
    assert.lengthOf(begun, Handshakes.MAX_BURST)
    for (let ticks = 0; ticks < 20; ticks++) tick()
    assert.lengthOf(begun, Handshakes.MAX_BURST + Handshakes.HANDSHAKES_PER_SECOND)
    assert.deepStrictEqual(
      begun,
      begun.map((_, index) => index),
    )
    for (let ticks = 0; ticks < 200; ticks++) tick()
    assert.lengthOf(begun, 300)
    assert.isFalse(isTicking())
  })

  it("give up their turn if the client disconnects", () => {
    const { handshakes, tick } = paced()
    const begun: Array<number> = []
    const giveUp = Array.from({ length: 30 }, (_, nth) => handshakes.begin(() => begun.push(nth)))
    giveUp[20]?.()
    for (let ticks = 0; ticks < 20; ticks++) tick()
    assert.lengthOf(begun, 29)
    assert.notInclude(begun, 20)
  })
})
