import { Dialog } from "../ui/feedback/Dialog.tsx"
import { Kbd } from "../ui/display/Kbd.tsx"
import * as Keyboard from "../ui/controls/Keyboard.ts"
import * as Navigation from "./Navigation.ts"
import { useSession } from "../session/useSession.ts"

const KEYS: ReadonlyArray<readonly [keys: ReadonlyArray<string>, action: string]> = [
  [Keyboard.commandKeys("K"), "Open the command menu"],
  [["/"], "Search on this screen"],
  [["j"], "Next row"],
  [["k"], "Previous row"],
  [["↵"], "Open the row"],
  [["x"], "Select the email"],
  [["u"], "Back to the list"],
  [Keyboard.commandKeys("S"), "Save the draft of a template"],
  [Keyboard.commandKeys("↵"), "Publish a template"],
  [["?"], "Show keyboard shortcuts"],
]

const Row = ({ keys, action }: { readonly keys: ReadonlyArray<string>; readonly action: string }) => (
  <li className="flex items-center gap-2 py-1 text-sm">
    <span className="grow text-ink-2">{action}</span>
    {keys.map((key) => (
      <Kbd key={key}>{key}</Kbd>
    ))}
  </li>
)

interface Props {
  readonly open: boolean
  readonly onClose: () => void
}

export const KeyboardHelp = ({ onClose, open }: Props) => {
  const { session } = useSession()
  return (
    <Dialog open={open} onClose={onClose} title="Keyboard shortcuts" wide>
      <div className="grid gap-x-8 p-5 sm:grid-cols-2">
        <ul>
          {KEYS.map(([keys, action]) => (
            <Row key={action} keys={keys} action={action} />
          ))}
        </ul>
        <ul>
          {Navigation.ALL_SCREENS.filter((screen) => Navigation.isVisible(screen, session)).map(({ key, name }) => (
            <Row key={name} keys={["g", key]} action={`Go to ${name}`} />
          ))}
        </ul>
      </div>
    </Dialog>
  )
}
