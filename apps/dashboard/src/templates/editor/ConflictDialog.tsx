import { useState } from "react"
import { SegmentedControl } from "../../ui/controls/SegmentedControl.tsx"
import { Dialog, DialogBody } from "../../ui/feedback/Dialog.tsx"
import { TextDifference } from "../versions/TextDifference.tsx"
import * as Form from "../content/Form.ts"
import type { Conflict } from "./useEditing.ts"

interface Props {
  readonly conflict: Conflict | undefined
  readonly form: Form.Form
  readonly onResolve: (form: Form.Form) => void
  readonly open: boolean
  readonly onClose: () => void
}

/** Asks which text stays where two people have changed the same one. Nothing is saved until that is decided. */
export const ConflictDialog = ({ conflict, form, onClose, onResolve, open }: Props) => (
  <Dialog
    open={open && conflict !== undefined}
    onClose={onClose}
    wide
    title="Somebody else changed the same"
    description="Choose what stays. Nothing is saved until you save again, and everything else of both is kept."
  >
    {conflict === undefined ? undefined : <Choices conflict={conflict} form={form} onResolve={onResolve} />}
  </Dialog>
)

type ChoicesProps = Pick<Props, "form" | "onResolve"> & { readonly conflict: Conflict }

const Choices = ({ conflict, form, onResolve }: ChoicesProps) => {
  const { names, theirs } = conflict
  const [taken, setTaken] = useState<ReadonlySet<string>>(new Set())
  const choose = (name: string, side: "mine" | "theirs") => {
    const next = new Set(taken)
    if (side === "theirs") next.add(name)
    else next.delete(name)
    setTaken(next)
  }
  const resolve = () => {
    const chosen = names.filter((name) => taken.has(name)).map((name) => [name, theirs[name] ?? ""])
    onResolve({ ...form, ...Object.fromEntries(chosen) })
  }
  return (
    <DialogBody done="Continue" onDone={resolve}>
      {names.map((name) => (
        <section key={name} className="flex flex-col gap-2">
          <header className="flex flex-wrap items-center gap-2">
            <h3 className="grow text-sm font-medium">{Form.labelOf(name)}</h3>
            <SegmentedControl
              label={`Which ${Form.labelOf(name)} stays`}
              value={taken.has(name) ? "theirs" : "mine"}
              options={[
                ["mine", "Mine"],
                ["theirs", "Theirs"],
              ]}
              onChange={(side) => choose(name, side)}
            />
          </header>
          <TextDifference label={Form.labelOf(name)} before={theirs[name] ?? ""} after={form[name] ?? ""} />
        </section>
      ))}
      <p className="text-xs text-ink-3">Red lines are theirs, green ones yours.</p>
    </DialogBody>
  )
}
