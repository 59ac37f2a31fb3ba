"""Keys in the order in which they were pressed, however many of them come at once."""

from __future__ import annotations

from textual import events
from textual.widget import Widget


async def act_in_turn(field: Widget, event: events.Key) -> None:
    """Do at once what `field` has bound to a key; to be called first by its handler of keys.

    Textual lets the field insert characters as they come, and carries out bindings only after a key has come up to
    the app: over a slow line, later characters overtake it. By then it has also sent the field keys that were pressed
    after one that moves the focus: they go where the focus is.
    """
    focused = field.screen.focused
    if focused is not None and focused is not field:
        event.stop()
        event.prevent_default()
        hand_on(event, focused)
        return
    for binding in field._bindings.key_to_bindings.get(event.key, ()):
        if await field.app.run_action(binding.action, field):
            event.stop()
            if event.key == "enter":  # any other key that is bound only makes a field show its cursor
                event.prevent_default()
            return


def hand_on(event: events.Key | events.Paste, widget: Widget) -> None:
    """Let `widget` have what was typed or pasted for it, and was sent to another."""
    again = event.copy() if isinstance(event, events.Key) else events.Paste(event.text)
    again._set_forwarded()  # or the app would take it for a new one when it comes up
    widget.post_message(again)
