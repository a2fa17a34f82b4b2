"""The inspector: a page on which an operator sees what a policy does to a text, and what an edit of it would change.

    access      who may look
    edited      a policy as it stands in a text field, and whether what is loaded can run it
    borrowed    the service's detection, lent to one inspection
    inspection  one request through the pipeline, up to where it would leave
    compare     what one inspection found and another did not
    view        all of that as JSON
    desk        the ASGI application
    page/       the page itself: one HTML, one CSS, one JS file

An inspection runs the stages that a request runs, with a vault, a store and a secret of its own that end with it.
Nothing is forwarded, and nothing of it is kept.
"""
