import { Fragment } from "react"
import { cx } from "../../ui/display/cx.ts"
import type { Email } from "../../api/Records.ts"
import * as Hits from "./Hits.ts"

/** Line of text written by others, like `UntrustedText`, with the parts marked that a search found. */
export const Marked = ({ parts, text }: { readonly text: string; readonly parts: ReadonlyArray<string> }) => (
  <bdi>
    {Hits.shorten(Hits.piecesOf(text, parts)).map((piece, nth) =>
      piece.isHit ? (
        <mark key={nth} className="rounded-xs bg-warn-soft text-warn">
          {piece.text}
        </mark>
      ) : (
        <Fragment key={nth}>{piece.text}</Fragment>
      ),
    )}
  </bdi>
)

interface Props {
  readonly email: Email
  readonly parts: Hits.Parts
  /** Whether wide screens show the tags beside this, so that they are no news there. */
  readonly tagsAreShown: boolean
}

/** The fields that a search found and that a row does not show, such as “from hello@acme.com”. */
export const HiddenHits = ({ email, parts, tagsAreShown }: Props) => {
  const hidden = Hits.hiddenOf(email, parts)
  if (hidden.length === 0) return undefined
  const onlyTags = tagsAreShown && hidden.every(({ field }) => field === "tag")
  return (
    <span className={cx("block min-w-0 truncate text-xs text-ink-3", onlyTags && "md:hidden")}>
      {hidden.map(({ field, name, text }, nth) => (
        <span key={`${name} ${text}`} className={cx(tagsAreShown && field === "tag" && "md:hidden")}>
          {nth === 0 ? "" : " · "}
          {name} <Marked text={text} parts={parts[field]} />
        </span>
      ))}
    </span>
  )
}
