"""Source packages of Debian, fetched by apt into a folder of their own: neither the lists of this machine nor what is
installed on it are touched."""

import pathlib
import re
import subprocess


class NotThere(Exception):
    """Says why, in a line."""


def mirror() -> str:
    """Where this machine gets Debian's own packages from."""
    asked = ["apt-get", "indextargets", "--format", "$(ORIGIN) $(CODENAME) $(REPO_URI)", "Created-By: Packages"]
    try:
        lines = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotThere(f"no apt here ({error}): give the unpacked sources with --source") from None
    for line in lines:
        origin, codename, address = line.split()
        if origin == "Debian" and codename.isalpha():
            return address
    raise NotThere("apt knows no mirror of Debian: give one with --mirror, or the unpacked sources with --source")


def apt(folder: pathlib.Path, tool: str, *arguments: str, cwd: pathlib.Path | None = None) -> str:
    """Runs a tool of apt on the list of sources in `folder`."""
    settings = {
        "Dir::Etc::SourceList": folder / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State::Lists": folder / "lists",
        "Dir::Cache": folder / "cache",
        "APT::Sandbox::User": "",
    }
    options = [part for name, value in settings.items() for part in ("-o", f"{name}={value}")]
    done = subprocess.run([tool, "-q", *options, *arguments], capture_output=True, text=True, check=False, cwd=cwd)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
        raise NotThere(f"{tool} {' '.join(arguments)}: {said[0]}")
    return done.stdout


def fetch(package: str, suite: str, address: str, folder: pathlib.Path) -> pathlib.Path:
    """Its original sources in this suite, unpacked below `folder`, unless they are there already; their top folder."""
    top = folder / f"{package}-{suite}"
    if not top.exists():
        state = folder / "apt"
        for part in ("lists/partial", "cache/archives/partial"):
            (state / part).mkdir(parents=True, exist_ok=True)
        keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
        signed = f"[signed-by={keys}] " if pathlib.Path(keys).exists() else ""
        (state / "sources.list").write_text(f"deb-src {signed}{address or mirror()} {suite} main\n")
        print(f"fetching the sources of {package} from Debian {suite}", flush=True)
        apt(state, "apt-get", "update")
        archives = folder / "archives" / top.name
        archives.mkdir(parents=True, exist_ok=True)
        apt(state, "apt-get", "source", "--download-only", "--tar-only", f"{package}/{suite}", cwd=archives)
        (archive,) = archives.glob(f"{package}_*.orig.tar.*")
        unpacked = folder / f"{top.name}.part"
        unpacked.mkdir(exist_ok=True)
        subprocess.run(["tar", "xf", str(archive), "-C", str(unpacked)], check=True)
        unpacked.rename(top)
        (top / "version").write_text(re.sub(rf"^{package}_(.*)\.orig\.tar\..*$", r"\1", archive.name) + "\n")
    return next(path for path in sorted(top.iterdir()) if path.is_dir())


def version(package: str, suite: str, folder: pathlib.Path) -> str:
    return (folder / f"{package}-{suite}" / "version").read_text().strip()
