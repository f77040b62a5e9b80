import * as MerkleTree from "./MerkleTree.ts"

/** Paths of tiles below the address of a log (c2sp.org/tlog-tiles). */

/** A tile, with its width if it is not full. */
export interface TileRequest extends MerkleTree.TileKey {
  readonly width: number
}

const MAX_LEVEL = 63
const GROUP = 1_000
const PATH = /^tile\/(0|[1-9]\d?)((?:\/x\d{3}){0,4}\/\d{3})(?:\.p\/([1-9]\d{0,2}))?$/u

export const of = ({ level, n, width }: TileRequest): string => {
  let path = String(n % GROUP).padStart(3, "0")
  for (let rest = Math.floor(n / GROUP); rest > 0; rest = Math.floor(rest / GROUP))
    path = `x${String(rest % GROUP).padStart(3, "0")}/${path}`
  return `tile/${level}/${path}${width < MerkleTree.TILE_WIDTH ? `.p/${width}` : ""}`
}

/** Reads a path; undefined if it is none, or is written otherwise than `of` writes it. */
export const parse = (path: string): TileRequest | undefined => {
  const [, level = "", n = "", width] = PATH.exec(path) ?? []
  const request = {
    level: Number(level),
    n: Number(n.replaceAll(/[/x]/gu, "")),
    width: width === undefined ? MerkleTree.TILE_WIDTH : Number(width),
  }
  return level !== "" && request.level <= MAX_LEVEL && of(request) === path ? request : undefined
}
