import { Dialog } from "../ui/feedback/Dialog.tsx"
import { Kbd } from "../ui/layout/Screen.tsx"
import { ALL_PLACES, isFor } from "./Navigation.ts"
import { useSession } from "./useSession.ts"

const KEYS: ReadonlyArray<readonly [keys: ReadonlyArray<string>, meaning: string]> = [
  [["⌘", "K"], "Go to, do or find"],
  [["/"], "Search on this screen"],
  [["j"], "Next in a list"],
  [["k"], "The one before"],
  [["↵"], "Open it"],
  [["u"], "Back to the list"],
  [["?"], "These keys"],
]

const Row = ({ keys, meaning }: { readonly keys: ReadonlyArray<string>; readonly meaning: string }) => (
  <li className="flex items-center gap-2 py-1 text-sm">
    <span className="grow text-ink-2">{meaning}</span>
    {keys.map((key) => (
      <Kbd key={key}>{key}</Kbd>
    ))}
  </li>
)

interface Props {
  readonly open: boolean
  readonly onOpenChange: (open: boolean) => void
}

export const Help = ({ onOpenChange, open }: Props) => {
  const { may } = useSession()
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="Keys" wide>
      <div className="grid gap-x-8 p-5 sm:grid-cols-2">
        <ul>
          {KEYS.map(([keys, meaning]) => (
            <Row key={meaning} keys={keys} meaning={meaning} />
          ))}
        </ul>
        <ul>
          {ALL_PLACES.filter((place) => isFor(place, may)).map(({ key, name }) => (
            <Row key={name} keys={["g", key]} meaning={name} />
          ))}
        </ul>
      </div>
    </Dialog>
  )
}
