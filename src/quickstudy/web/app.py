"""The dashboard as a web application: which address shows which page, and what no address does.

Nothing is written, nothing is run. A page is made of blocks, whose text is escaped; a file that
lies in a folder is shown in a sandbox, where no script of it runs. Only files directly in a results
folder have an address.
"""

from __future__ import annotations

import pathlib
import secrets
from collections.abc import Awaitable, Callable, Sequence

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from quickstudy.base.blocks import Page
from quickstudy.base.errors import QuickstudyError
from quickstudy.render.html import as_html
from quickstudy.web.library import SHOWN, Library, Unknown
from quickstudy.web.pages import fault_page, folder_page, folder_report, front_page, run_page

_PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-{}'; img-src data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_FILE_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")

Show = Callable[[Request], Page]


def application(places: Sequence[pathlib.Path], hosts: Sequence[str] = LOOPBACK) -> Starlette:
    """The dashboard of some folders. hosts: names by which it may be called; a page of elsewhere
    that has its own name lead here (DNS rebinding) is refused. `*`: any.
    """
    library = Library(places)

    def front(request: Request) -> Page:
        return front_page(library)

    def folder(request: Request) -> Page:
        name = request.path_params["folder"]
        return folder_page(name, library.shelf(name), library.files(name))

    def report(request: Request) -> Page:
        return folder_report(library.shelf(request.path_params["folder"]))

    def run(request: Request) -> Page:
        name, key = request.path_params["folder"], request.path_params["key"]
        return run_page(library.shelf(name), key, library.record(name, key))

    async def file(request: Request) -> Response:
        try:
            path = library.file(request.path_params["folder"], request.path_params["file"])
            content = await run_in_threadpool(path.read_bytes)
        except (Unknown, OSError) as error:
            return _answer(fault_page("Not found", str(error)), status=404)
        headers = {**HEADERS, "Content-Security-Policy": _FILE_POLICY}
        return Response(content, media_type=f"{SHOWN[path.suffix]}; charset=utf-8", headers=headers)

    async def nothing(request: Request, error: Exception) -> Response:
        return _answer(
            fault_page("Not found", f"There is nothing at {request.url.path}."), status=404
        )

    routes = [
        Route("/", _shown(library, front)),
        Route("/{folder}/", _shown(library, folder)),
        Route("/{folder}/report", _shown(library, report)),
        Route("/{folder}/runs/{key}", _shown(library, run)),
        Route("/{folder}/files/{file}", file),
    ]
    guard = Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    return Starlette(routes=routes, middleware=[guard], exception_handlers={404: nothing})


def _shown(library: Library, show: Show) -> Callable[[Request], Awaitable[Response]]:
    """A page, and under `?mark` what changes when it may have changed."""

    async def answer(request: Request) -> Response:
        name = request.path_params.get("folder", "")
        try:
            mark = await run_in_threadpool(library.mark, name)
            if "mark" in request.query_params:
                return PlainTextResponse(mark, headers=HEADERS)
            return _answer(await run_in_threadpool(show, request), mark)
        except Unknown as error:
            return _answer(fault_page("Not found", str(error)), status=404)
        except QuickstudyError as error:
            return _answer(fault_page("This cannot be shown", str(error)), mark)

    return answer


def _answer(page: Page, mark: str = "", status: int = 200) -> Response:
    nonce = secrets.token_urlsafe(12)
    headers = {**HEADERS, "Content-Security-Policy": _PAGE_POLICY.format(nonce)}
    return HTMLResponse(as_html(page, live=mark, nonce=nonce), status, headers)
