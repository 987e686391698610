"""One module for each part of the site; make(site) writes its pages."""
